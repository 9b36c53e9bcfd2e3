#!/usr/bin/env bash
# scripts/generate.sh [DIRECTORY]: the man page, the completions and docs/options.md from the command's option table,
# under DIRECTORY (default: the repository). The binary must be built.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
into=${1:-$ROOT}

# generate FORMAT FILE: whole or not at all, so that a failure leaves the old file.
generate() {
    local file=$into/$2
    mkdir -p -- "$(dirname -- "$file")"
    "${HAUL:-$RELEASE_BINARY}" help --format "$1" >"$file.new" || {
        rm -f -- "$file.new"
        die "cannot make $2"
    }
    [[ -s $file.new ]] || {
        rm -f -- "$file.new"
        die "haul help --format $1 printed nothing"
    }
    mv -- "$file.new" "$file"
}

generate man share/man/haul.1
generate bash share/completions/haul.bash
generate zsh share/completions/_haul
generate fish share/completions/haul.fish
generate markdown docs/options.md
