#!/usr/bin/env bash
# scripts/test.sh: what `make test` runs: unit, property, loopback and end-to-end tests in debug and what has threads
# under the thread sanitizer, then `kill -9` again and again. Stops at the first failure. Logs: .build/logs/test.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd -- "$ROOT"

scripts/packages.sh test
need_swift
isolate_environment
begin_steps test
SHOW_OUTPUT=1
began=$SECONDS

# The suites of everything that has threads.
threaded='^(HaulPlatform|HaulTransfer|HaulDisk|HaulEngine)Tests\.'
sanitizer=(--sanitize=thread --scratch-path .build/tsan)

run() {
    step "$@" || {
        end_steps || true
        exit 1
    }
}

run build-debug 1500 swift build --build-tests
HAUL=$ROOT/.build/debug/haul run test-debug 600 swift test --skip-build --disable-xctest
run build-threads 1500 swift build --build-tests "${sanitizer[@]}"
TSAN_OPTIONS=exitcode=66 run test-threads 1500 \
    swift test --skip-build --disable-xctest "${sanitizer[@]}" --filter "$threaded"
HAUL=$ROOT/.build/debug/haul run crash 600 python3 scripts/checks/crash.py --kills 12

printf '\nAll tests passed in %d s\n' "$((SECONDS - began))"
end_steps
