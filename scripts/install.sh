#!/usr/bin/env bash
# scripts/install.sh [--uninstall] DIRECTORY: the stripped binary, the man page, the completions and the documents
# under DIRECTORY, a prefix such as /usr/local. The binary must be built.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

binary=bin/haul
declare -A pages=(
    [share/man/man1/haul.1]=share/man/haul.1
    [share/bash-completion/completions/haul]=share/completions/haul.bash
    [share/zsh/site-functions/_haul]=share/completions/_haul
    [share/fish/vendor_completions.d/haul.fish]=share/completions/haul.fish
)
doc=share/doc/haul
for file in README.md CHANGELOG.md docs/{events,exit-status,known-limits,on-disk-format,options}.md; do
    pages[$doc/${file##*/}]=$file
done

remove() {
    local file
    for file in "$binary" "${!pages[@]}"; do rm -f -- "$1/$file"; done
    if [[ -d $1/$doc ]]; then rmdir --ignore-fail-on-non-empty -- "$1/$doc"; fi
}

install_under() {
    local target stripped
    [[ -x $RELEASE_BINARY ]] || die 'nothing built yet: make build'
    stripped=$(mktemp)
    # shellcheck disable=SC2064  # the name as it is now
    trap "rm -f -- '$stripped'" EXIT
    if ! strip -o "$stripped" -- "$RELEASE_BINARY" 2>/dev/null; then cp -- "$RELEASE_BINARY" "$stripped"; fi
    install -D -m 755 -- "$stripped" "$1/$binary"
    for target in "${!pages[@]}"; do
        [[ -s $ROOT/${pages[$target]} ]] || die "${pages[$target]} is missing (make generate makes some)"
        install -D -m 644 -- "$ROOT/${pages[$target]}" "$1/$target"
    done
}

if [[ ${1:-} == --uninstall ]]; then remove "${2:?DIRECTORY}"; else install_under "${1:?DIRECTORY}"; fi
