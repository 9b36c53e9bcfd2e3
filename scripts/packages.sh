#!/usr/bin/env bash
# scripts/packages.sh PURPOSE...: installs the Debian packages that PURPOSE needs and that are not there yet.
#
# Purposes: build, test, check, bench, deb. Nothing missing: no call of apt at all. Servers are installed without being
# started. HAUL_SKIP_PACKAGES=1 skips everything, for systems that get the libraries in another way.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

build=(libcurl4-openssl-dev libssl-dev zlib1g-dev libbrotli-dev libzstd-dev libutf8proc-dev libuchardet-dev pkg-config)
test=("${build[@]}" python3 openssl curl gcc libc6-dev)
check=(nginx-light apache2 vsftpd openssh-server openssh-client tinyproxy dante-server shellcheck man-db zsh fish)
bench=(aria2 axel wget2 curl nginx-light python3)
deb=(binutils dpkg-dev lintian fakeroot man-db)

# missing PACKAGE...: those that are not installed, one a line.
missing() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
    done
}

as_root() {
    if ((EUID == 0)); then "$@"; else sudo -- "$@"; fi
}

# With this file in place, Debian's maintainer scripts start no service.
policy=/usr/sbin/policy-rc.d
kept_policy=
forbid_starts() {
    if [[ -e $policy ]]; then
        kept_policy=$(mktemp)
        as_root cp -p -- "$policy" "$kept_policy"
    fi
    trap allow_starts EXIT
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
}
allow_starts() {
    if [[ -n $kept_policy ]]; then
        as_root cp -p -- "$kept_policy" "$policy"
        as_root rm -f -- "$kept_policy"
    else
        as_root rm -f -- "$policy"
    fi
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        -o DPkg::Lock::Timeout=300 -- "$@" </dev/null
}

install_packages() {
    printf 'Installing Debian packages, once: this can take a minute or two.\n  %s\n' "$*" >&2
    forbid_starts
    # The lists at hand are often good enough; on a fresh system there are none, and old ones may name what is gone.
    if ! apt_install "$@" >/dev/null 2>&1; then
        as_root apt-get update -q </dev/null >&2
        apt_install "$@" >&2
    fi
}

main() {
    (($# > 0)) || die 'say what for: build, test, check, bench or deb'
    [[ ${HAUL_SKIP_PACKAGES:-0} != 1 ]] || return 0

    local purpose wanted=() lacking=()
    for purpose in "$@"; do
        case $purpose in
        build) wanted+=("${build[@]}") ;;
        test) wanted+=("${test[@]}") ;;
        check) wanted+=("${check[@]}") ;;
        bench) wanted+=("${bench[@]}") ;;
        deb) wanted+=("${deb[@]}") ;;
        *) die "unknown purpose '$purpose': build, test, check, bench or deb" ;;
        esac
    done

    type -P apt-get >/dev/null ||
        die "this system has no apt. Install what these Debian packages hold, then set HAUL_SKIP_PACKAGES=1: ${wanted[*]}"
    mapfile -t lacking < <(missing "${wanted[@]}" | sort -u)
    ((${#lacking[@]} > 0)) || return 0
    ((EUID == 0)) || command -v sudo >/dev/null ||
        die "missing packages, and neither root nor sudo to install them. As root: apt-get install ${lacking[*]}"
    install_packages "${lacking[@]}"
}

main "$@"
