#!/usr/bin/env bash
# scripts/build.sh: the release binary, .build/release/haul, which needs no Swift runtime where it runs.
# Nothing newer than the last build: returns at once, without a toolchain.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd -- "$ROOT"

stamp=.build/release.stamp
if [[ -x $RELEASE_BINARY && -e $stamp ]] &&
    [[ -z $(find Package.swift Sources scripts/build.sh "$RELEASE_BINARY" -newer "$stamp" -print -quit) ]]; then
    exit 0
fi

need_swift
echo 'Building haul with Swift, once: this takes a few minutes.' >&2
began=$SECONDS
# Across modules: the machines are generic and small, and inlined into the engine they cost a tenth less.
# Exclusive access is checked while the tests run, in debug builds; here the checks would cost a fiftieth.
# No search path relative to the binary: an installed program must not load libraries that lie beside it.
swift build -c release --static-swift-stdlib --disable-local-rpath --product haul \
    -Xswiftc -cross-module-optimization -Xswiftc -enforce-exclusivity=unchecked >&2
touch "$stamp"
echo "Built .build/release/haul in $((SECONDS - began)) s." >&2
