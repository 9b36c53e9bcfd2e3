#!/usr/bin/env bash
# scripts/check.sh [--with-tests] [STEP...]: everything that continuous integration checks beyond `make test`.
# With step names: only those. A failed step does not keep the others from running. Logs: .build/logs/check.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd -- "$ROOT"

# --- the steps: each a command of its own under a time limit, with an empty folder SCRATCH for itself ---------------

check_format() { swift format lint --strict -r --configuration .swift-format Package.swift Sources Tests; }

# Warnings are errors by Package.swift (`treatAllWarnings`). Here also: a target imports what it declares, nothing else.
check_imports() {
    swift build --build-tests --explicit-target-dependency-import-check error
    swift package dump-package | python3 scripts/imports.py
}

check_shell() {
    local files=()
    mapfile -t files < <(find scripts packaging .ci -type f \( -name '*.sh' -o -path .ci/run \) | sort)
    shellcheck -x -- "${files[@]}"
    find . -name '*.py' -not -path './.build/*' -exec python3 -c '
import ast, sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        ast.parse(file.read(), name)
' {} +
}

check_version() {
    local said
    said=$("$HAUL" version | grep -oEm1 '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1 || true)
    [[ $said == "$(<VERSION)" ]] || die "\`haul version\` says '$said', VERSION says '$(<VERSION)'"
    grep -qF "## [Unreleased]" CHANGELOG.md || die 'CHANGELOG.md has no Unreleased section'
}

# What is made from the option table must be what is committed.
check_generated() {
    local fresh=$SCRATCH differs=0 file
    scripts/generate.sh "$fresh"
    while IFS= read -r file; do
        diff -u --label "committed/$file" --label "generated/$file" -- "$file" "$fresh/$file" || differs=1
    done < <(cd -- "$fresh" && find . -type f -printf '%P\n')
    ((differs == 0)) || die "run 'make generate' and commit what changes"
}

# The man page and the completions are read by the programs that will read them.
check_readable() {
    local complaints
    [[ -s share/man/haul.1 ]] || die "share/man/haul.1 is missing: run 'make generate'"
    complaints=$(MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z share/man/haul.1 2>&1 >/dev/null || true)
    [[ -z $complaints ]] || die "share/man/haul.1: $complaints"
    bash -n share/completions/haul.bash
    zsh -n share/completions/_haul
    fish --no-execute share/completions/haul.fish
}

# Nothing of the machine it was written on: its folders, its package registries.
check_tree() {
    local pattern found host status=0
    pattern='(^|[^A-Za-z0-9_.$}~-])/(root|work|workspace|builds)/[A-Za-z0-9_.-]+'
    pattern+='|https?://(registry|artifactory|nexus|pypi|npm|crates)[a-z0-9-]*\.'
    while IFS= read -r host; do pattern+="|${host//./\\.}"; done < <(
        cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
            grep -oE '^[^#]*https?://[^/ ]+' | sed 's|.*//||' | sort -u)
    # The clone may belong to somebody else than the one who runs this: git must read it all the same.
    found=$(git -c safe.directory="$ROOT" grep -nIE "$pattern" -- . ':!scripts/check.sh') || status=$?
    ((status <= 1)) || die "git grep failed with $status"
    [[ -z $found ]] || die "the tree names places of one machine:"$'\n'"$found"
}

check_deb() {
    local unpacked=$SCRATCH
    packaging/deb.sh
    lintian --allow-root --fail-on error -- build/haul_*.deb
    dpkg-deb -x build/haul_*.deb "$unpacked"
    "$unpacked/usr/bin/haul" version
    [[ -s $unpacked/usr/share/doc/haul/events.md ]] || die 'the package has no documents'
    # What the manual names below share/doc is there.
    local document
    while IFS= read -r document; do
        compgen -G "$unpacked/usr/share/doc/haul/$document*" >/dev/null || die "the manual names $document"
    done < <(sed 's/\\-/-/g' share/man/haul.1 | grep -oE '[A-Za-z-]+\.md' | sort -u)
    ! ldd "$unpacked/usr/bin/haul" | grep -E 'libswift|libFoundation|lib_Foundation|not found' ||
        die 'the packaged binary needs a library that the package does not bring'
}

# `make install` into an empty root, and away again: nothing may stay.
check_install() {
    local root=$SCRATCH left
    make -s install DESTDIR="$root" PREFIX=/usr
    "$root/usr/bin/haul" version
    for left in share/man/man1/haul.1 share/bash-completion/completions/haul share/zsh/site-functions/_haul \
        share/fish/vendor_completions.d/haul.fish share/doc/haul/{README,CHANGELOG,events,options,on-disk-format}.md; do
        [[ -s $root/usr/$left ]] || die "make install left out $left"
    done
    make -s uninstall DESTDIR="$root" PREFIX=/usr
    left=$(find "$root" ! -type d -o -path '*/doc/haul')
    [[ -z $left ]] || die "make uninstall left: $left"
}

# A second `make` with nothing changed builds nothing.
check_incremental() {
    local before
    local said
    before=$(stat -c '%Y %i' "$HAUL")
    said=$(scripts/packages.sh build test 2>&1 && PATH=/usr/bin:/bin scripts/build.sh 2>&1)
    [[ -z $said ]] || die "the second build says: $said"
    [[ $(stat -c '%Y %i' "$HAUL") == "$before" ]] || die 'the second build made the binary again'
}

# --- running them --------------------------------------------------------------------------------------------------

STEPS=(
    # name       limit (s)  command
    "format      300  check_format"
    "imports    1500  check_imports"
    "incremental  60  check_incremental"
    "shell       120  check_shell"
    "version      30  check_version"
    "generated    60  check_generated"
    "readable     60  check_readable"
    "tree         60  check_tree"
    "cases        60  python3 scripts/checks/cases.py"
    "install     120  check_install"
    "deb         900  check_deb"
    "scripted    900  python3 Tests/Scripted/run.py"
    "faultlab   1200  scripts/checks/faultlab.sh --times 1"
    "real-servers 1200 python3 Tests/RealServers/run.py"
    "crash      1500  python3 scripts/checks/crash.py --kills 100"
)

main() {
    local with_tests=0 entry name limit command
    if [[ ${1:-} == --with-tests ]]; then
        with_tests=1
        shift
    fi
    begin_steps check
    step packages 900 scripts/packages.sh build test check deb || {
        end_steps || true
        return 1
    }
    need_swift
    isolate_environment
    export HAUL=$RELEASE_BINARY
    if ((with_tests)); then step test 3000 make test || true; fi
    if ! step build 900 scripts/build.sh; then
        end_steps || true
        return 1
    fi
    for entry in "${STEPS[@]}"; do
        read -r name limit command <<<"$entry"
        if (($# > 0)) && [[ " $* " != *" $name "* ]]; then continue; fi
        # `timeout` runs programs, not functions: this script once more, for one of its functions.
        if [[ $command == check_* ]]; then command="scripts/check.sh --run $command"; fi
        # shellcheck disable=SC2086  # the table holds words, not one name
        step "$name" "$limit" $command || true
    done
    end_steps
}

if [[ ${1:-} == --run ]]; then
    SCRATCH=$(mktemp -d)
    trap 'rm -rf -- "$SCRATCH"' EXIT
    "$2"
else
    main "$@"
fi
