#!/usr/bin/env bash
# packaging/deb.sh: build/haul_VERSION-1_ARCHITECTURE.deb, from the release binary and VERSION. The binary brings the
# Swift runtime with it; the other libraries become Depends, as dpkg-shlibdeps finds them.
# DEBFULLNAME and DEBEMAIL name who made the package, as for Debian's own tools; without them it is of this machine.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/lib.sh"
cd -- "$ROOT"
umask 022

maintainer="${DEBFULLNAME:-Haul developers} <${DEBEMAIL:-haul@localhost}>"
version=$(<VERSION)-1
architecture=$(dpkg --print-architecture)
# The same commit gives the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="$ROOT" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
# Where dpkg-shlibdeps looks for it.
tree=$work/source/debian/haul
doc=$tree/usr/share/doc/haul

install_files() {
    scripts/build.sh
    scripts/install.sh "$tree/usr"
    strip --strip-unneeded --remove-section=.comment --remove-section=.note -- "$tree/usr/bin/haul"
    # Packages have a place of their own for zsh.
    mkdir -p -- "$tree/usr/share/zsh/vendor-completions"
    mv -- "$tree/usr/share/zsh/site-functions/_haul" "$tree/usr/share/zsh/vendor-completions/_haul"
    rmdir -- "$tree/usr/share/zsh/site-functions"
    gzip -9n -- "$tree/usr/share/man/man1/haul.1"
}

write_documents() {
    mkdir -p -- "$doc"
    install -m 644 -- packaging/copyright "$doc/copyright"
    printf 'haul (%s) unstable; urgency=medium\n\n  * Release %s; see the CHANGELOG.md of the source.\n\n -- %s  %s\n' \
        "$version" "$(<VERSION)" "$maintainer" "$(date -uRd "@$SOURCE_DATE_EPOCH")" |
        gzip -9n >"$doc/changelog.Debian.gz"
    # Where Debian looks for it; the manual's name leads there too.
    gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
    ln -sf changelog.gz "$doc/CHANGELOG.md.gz"
    rm -f -- "$doc/CHANGELOG.md"
    mkdir -p -- "$tree/usr/share/lintian/overrides"
    install -m 644 -- packaging/lintian-overrides "$tree/usr/share/lintian/overrides/haul"
}

# dependencies: the value of Depends. dpkg-shlibdeps wants a source package around it: a minimal one.
dependencies() {
    printf 'Source: haul\nMaintainer: %s\n\nPackage: haul\nArchitecture: any\nDescription: x\n' "$maintainer" \
        >"$work/source/debian/control"
    (cd -- "$work/source" && dpkg-shlibdeps -O -e"$tree/usr/bin/haul") | sed -n 's/^shlibs:Depends=//p'
}

write_control() {
    local depends
    mkdir -p -- "$tree/DEBIAN"
    depends=$(dependencies)
    [[ -n $depends ]] || die 'dpkg-shlibdeps found no dependencies'
    {
        printf 'Package: haul\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$version" "$architecture" "$maintainer"
        printf 'Installed-Size: %s\nDepends: %s\n' "$(du -sk --apparent-size -- "$tree/usr" | cut -f1)" "$depends"
        cat packaging/control.in
    } >"$tree/DEBIAN/control"
    (cd -- "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
}

install_files
write_documents
write_control
find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" -- {} +
mkdir -p build
rm -f -- build/haul_*.deb
dpkg-deb --root-owner-group --build -Zxz -- "$tree" "build/haul_${version}_$architecture.deb" >/dev/null
echo "build/haul_${version}_$architecture.deb"
