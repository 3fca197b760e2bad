#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks another architecture's libraries of this system's release into .deps/ARCHITECTURE/sysroot: OpenSSL, yaml-cpp,
# nlohmann/json, GoogleTest and the C and C++ libraries that programs need to run; beside it, toolchain.cmake. apt gets
# lists and folders of its own for it, so that nothing changes on this machine: installed side by side, the other
# libyaml-cpp-dev would remove the machine's, and its libssl upgrade it.
#   cross_sysroot.sh ARCHITECTURE    CROSS_MIRROR=URL takes the packages from there (needed if Ubuntu is from a mirror)
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

readonly PACKAGES=(libssl-dev libyaml-cpp-dev nlohmann-json3-dev libgtest-dev)
readonly PORTS=http://ports.ubuntu.com/ubuntu-ports  # where Ubuntu keeps all but amd64
sources="${APT_SOURCES:-/etc/apt}"
arch="$1"
cross_target "$arch"
own="$DEPS/$arch"

# This system's own package sources without what names another architecture; Ubuntu's with the server that has this one.
own_sources() {
  local file
  mkdir -p "$own/apt/sources.list.d"
  rm -f "$own/apt"/sources.list*/* "$own/apt/sources.list"
  for file in "$sources/sources.list" "$sources"/sources.list.d/{debian,ubuntu}.sources; do
    [ -f "$file" ] || continue
    if [ -n "${CROSS_MIRROR:-}" ]; then
      sed -E "s#https?://[^ ]+#$CROSS_MIRROR#g"
    else
      sed -E "s#https?://([a-z.-]*\.)?(archive|security)\.ubuntu\.com/ubuntu/?#$PORTS#g"
    fi <"$file" | sed -E '/^Architectures:/d; s/\[?arch=[a-z0-9,]+\]?//' >"$own/apt/${file#"$sources"/}"
  done
}

apt_there() {
  apt-get -q -o APT::Architecture="$arch" -o APT::Architectures::="$arch" -o Debug::NoLocking=1 \
    -o Dir::Etc="$own/apt" -o Dir::Etc::Trusted=/etc/apt/trusted.gpg -o Dir::Etc::TrustedParts=/etc/apt/trusted.gpg.d \
    -o Dir::State="$own/apt" -o Dir::State::status="$own/apt/status" -o Dir::Cache="$own/apt" "$@"
}

stamp="$({ cat "${BASH_SOURCE[0]}" "$ROOT/tools/cmake/cross.cmake.in" /etc/os-release; echo "${CROSS_MIRROR:-}"; } | hash_of)"
[ "$(cat "$own/.complete" 2>/dev/null || true)" != "$stamp" ] || exit 0
have apt-get && have dpkg-deb || die "libraries of $arch come from apt: use Debian 12, Ubuntu 24.04 or newer"
say "unpacking $arch's ${PACKAGES[*]} into ${own#"$ROOT"/}/sysroot"
rm -rf "$own"
mkdir -p "$own"/apt/{lists/partial,archives/partial,preferences.d} "$own/sysroot/usr/lib"
ln -s usr/lib "$own/sysroot/lib"  # older packages still say lib, newer ones usr/lib
: >"$own/apt/status"              # nothing is installed there, so apt fetches everything that is needed
own_sources
logged "$arch-update" "does this release have $arch? check the network" apt_there -o APT::Update::Error-Mode=any update
logged "$arch-packages" "does this release have $arch (Debian has riscv64 since 13)? If so, run it again" apt_there install -y --download-only --no-install-recommends "${PACKAGES[@]}"
for package in "$own"/apt/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$own/sysroot"
done
rm -rf "$own/apt"
sed "s/@PROCESSOR@/$processor/; s/@TRIPLET@/$triplet/" "$ROOT/tools/cmake/cross.cmake.in" >"$own/toolchain.cmake"
echo "$stamp" >"$own/.complete"
