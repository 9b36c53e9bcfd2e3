# shellcheck shell=bash
# Shared by the scripts beside it: where things are, Swift on the PATH, and steps that are timed, limited and counted.
# Sourced, never run.

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck disable=SC2034  # read by the scripts that source this
RELEASE_BINARY=$ROOT/.build/release/haul

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

is_swift() { [[ -x $1 ]] && "$1" --version 2>/dev/null </dev/null | grep -q 'Swift version'; }

# Puts a Swift toolchain on the PATH: the one that is there, else one from the usual places.
need_swift() {
    local found directory
    # OpenStack's client is called swift as well: ask it what it is.
    found=$(command -v swift || true)
    if [[ -n $found ]] && is_swift "$found"; then return; fi
    for directory in /opt/swift/usr/bin /usr/local/swift/usr/bin /usr/share/swift/usr/bin /opt/swift-*/usr/bin \
        "${HOME:-/nonexistent}/.local/share/swiftly/bin" /usr/libexec/swift/bin; do
        if is_swift "$directory/swift"; then
            export PATH=$directory:$PATH
            return
        fi
    done
    die 'no Swift toolchain found (6.2 or newer is needed).
Install one as told on https://www.swift.org/install/linux/ and put its usr/bin on the PATH.'
}

# What a test must not inherit: proxies (everything is on loopback) and the person's own settings.
isolate_environment() {
    unset http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY
    unset NO_COLOR COLUMNS XDG_CONFIG_HOME
    XDG_CONFIG_HOME=$(mktemp -d)
    export XDG_CONFIG_HOME LC_ALL=C.UTF-8
    trap 'rm -rf -- "$XDG_CONFIG_HOME"' EXIT
}

# --- steps ---------------------------------------------------------------------------------------------------------

STEP_NAMES=() STEP_SECONDS=() STEP_RESULTS=()
TOTAL_PASSED=0 TOTAL_FAILED=0
STEP_PROCESS=

# begin_steps NAME: an empty folder for the logs; an interrupt ends the running step too.
begin_steps() {
    LOGS=$ROOT/.build/logs/$1
    rm -rf -- "$LOGS"
    mkdir -p -- "$LOGS"
    trap 'stop_step; exit 130' INT
    trap 'stop_step; exit 143' TERM
}

stop_step() { if [[ -n $STEP_PROCESS ]]; then kill -TERM "$STEP_PROCESS" 2>/dev/null || true; fi; }

# closing_lines LOG: how test programs sum themselves up, without colours.
closing_lines() {
    sed -e 's/\x1b\[[0-9;]*m//g' -- "$1" |
        grep -E '^.{0,4}Test run with [0-9]+ tests?|^[0-9]+ passed, [0-9]+ failed' || true
}

# count_results LOG STATUS: "PASSED FAILED" of a step. The last "N passed, N failed" line counts; else Swift Testing's
# own; a step that counts nothing is one check.
count_results() {
    local log=$1 status=$2 lines passed failed
    lines=$(closing_lines "$log")
    if [[ $lines =~ (.*$'\n')?([0-9]+)' passed, '([0-9]+)' failed' ]]; then
        passed=${BASH_REMATCH[2]} failed=${BASH_REMATCH[3]}
    elif [[ $lines =~ 'Test run with '([0-9]+)' test' ]]; then
        passed=${BASH_REMATCH[1]}
        failed=$(grep -E '✘ Test .* failed after' -- "$log" | grep -cvE '✘ Test (run with|case passing)' || true)
        passed=$((passed - failed))
    else
        passed=$((status == 0)) failed=0
    fi
    if ((status != 0 && failed == 0)); then failed=1; fi
    # A step that ran no test at all proves nothing.
    if ((status == 0 && passed == 0 && failed == 0)); then failed=1; fi
    echo "$passed $failed"
}

# step NAME SECONDS COMMAND...: runs it under a time limit with its output in a log (and on the screen too when
# SHOW_OUTPUT is 1), says how long it took, adds up its results. Returns 1 when it failed.
step() {
    local name=$1 limit=$2 log status=0 began=$SECONDS passed failed result=ok
    shift 2
    log=$LOGS/$(printf '%02d' ${#STEP_NAMES[@]})-$name.log
    printf '== %s\n' "$name"
    if [[ ${SHOW_OUTPUT:-0} == 1 ]]; then
        timeout --kill-after=20 "$limit" "$@" </dev/null > >(tee -- "$log" | grep --line-buffered -v '^◇ ') 2>&1 &
    else
        timeout --kill-after=20 "$limit" "$@" </dev/null >"$log" 2>&1 &
    fi
    # In the background, so that an interrupt reaches us while it runs.
    STEP_PROCESS=$!
    wait "$STEP_PROCESS" || status=$?
    STEP_PROCESS=
    if [[ ${SHOW_OUTPUT:-0} == 1 ]]; then sleep 0.2; fi # tee writes its last lines

    read -r passed failed < <(count_results "$log" "$status")
    if ((status == 124 || status == 137)); then result="FAILED (over $limit s)"; elif ((failed > 0)); then result=FAILED; fi
    TOTAL_PASSED=$((TOTAL_PASSED + passed)) TOTAL_FAILED=$((TOTAL_FAILED + failed))
    STEP_NAMES+=("$name") STEP_SECONDS+=($((SECONDS - began))) STEP_RESULTS+=("$result")

    if [[ ${SHOW_OUTPUT:-0} != 1 ]]; then
        closing_lines "$log" | sed 's/^/   /'
        if [[ $result != ok ]]; then
            printf '   ---- the last 80 lines of %s\n' "${log#"$ROOT"/}"
            tail -n 80 -- "$log" | sed 's/^/   | /'
        fi
    fi
    printf '== %s: %s, %d s\n' "$name" "$result" "$((SECONDS - began))"
    [[ $result == ok ]]
}

# end_steps: the table and the closing line. Returns 1 when anything failed.
end_steps() {
    local index
    printf '\n%-22s %8s  %s\n' step seconds result
    for index in "${!STEP_NAMES[@]}"; do
        printf '%-22s %8d  %s\n' "${STEP_NAMES[index]}" "${STEP_SECONDS[index]}" "${STEP_RESULTS[index]}"
    done
    printf '\n%d passed, %d failed\n' "$TOTAL_PASSED" "$TOTAL_FAILED"
    ((TOTAL_FAILED == 0))
}
