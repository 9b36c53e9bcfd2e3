#!/bin/sh
# Drives the command through the fault lab's servers: faultlab.sh [--times N] [further options of the lab's run.py]
#
# The lab is found at $FAULTLAB, or at ../shared/faultlab beside this repository; without it the check fails.
# The command is $HAUL, or .build/release/haul. Any outcome that is not as it should be, or unsupported, fails.
set -u

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd) || exit 1
lab=${FAULTLAB:-$root/../shared/faultlab}
HAUL=${HAUL:-$root/.build/release/haul}
export HAUL PYTHONDONTWRITEBYTECODE=1
unset HAUL_LACKS HAUL_SIDECARS

times=1
while [ $# -gt 0 ]; do
    case $1 in
    --times) [ $# -ge 2 ] || { echo "--times needs a number" >&2; exit 2; }
        times=$2; shift 2 ;;
    --times=*) times=${1#*=}; shift ;;
    *) break ;;
    esac
done
case $times in '' | *[!0-9]* | 0) echo "--times needs a number from 1" >&2; exit 2 ;; esac

if [ ! -f "$lab/run.py" ]; then
    echo "no fault lab at $lab; name its directory in FAULTLAB" >&2
    exit 1
fi

child=
work=$(mktemp -d) || exit 1
finish() {
    [ -z "$child" ] || kill "$child" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

passed=0
failed=0
round=1
while [ "$round" -le "$times" ]; do
    FAULTLAB_TLS=$work/tls TMPDIR=$work python3 "$lab/run.py" --client haul --set public "$@" >"$work/out" 2>&1 &
    child=$!
    wait "$child"
    status=$?
    child=
    cat "$work/out"
    last=$(tail -n 1 "$work/out")
    case $last in
    *' as it should be, 0 not, 0 unsupported') good=yes ;;
    *) good=no ;;
    esac
    if [ "$status" -eq 0 ] && [ "$good" = yes ]; then
        echo "ok fault lab, round $round: $last"
        passed=$((passed + 1))
    else
        echo "NOT ok fault lab, round $round (exit $status): $last"
        failed=$((failed + 1))
    fi
    round=$((round + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
