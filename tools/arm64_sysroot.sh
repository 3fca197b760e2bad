#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks this system's arm64 libraries into .deps/arm64/sysroot: OpenSSL, yaml-cpp, nlohmann/json, GoogleTest, Python
# and the C and C++ libraries that programs need to run. apt gets lists and folders of its own for it, so that nothing changes on this
# machine: installed side by side, arm64's libyaml-cpp-dev would remove the machine's, and its libssl upgrade it.
#   arm64_sysroot.sh           ARM64_MIRROR=URL takes the packages from there (needed where Ubuntu comes from a mirror)
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

readonly PACKAGES=(libssl-dev libyaml-cpp-dev nlohmann-json3-dev libgtest-dev libpython3-dev)
readonly PORTS=http://ports.ubuntu.com/ubuntu-ports  # where Ubuntu keeps arm64
sources="${APT_SOURCES:-/etc/apt}"
arm64="$DEPS/arm64"

# This system's own package sources without what names another architecture; Ubuntu's with the server that has arm64.
own_sources() {
  local file
  mkdir -p "$arm64/apt/sources.list.d"
  rm -f "$arm64/apt"/sources.list*/* "$arm64/apt/sources.list"
  for file in "$sources/sources.list" "$sources"/sources.list.d/{debian,ubuntu}.sources; do
    [ -f "$file" ] || continue
    if [ -n "${ARM64_MIRROR:-}" ]; then
      sed -E "s#https?://[^ ]+#$ARM64_MIRROR#g"
    else
      sed -E "s#https?://([a-z.-]*\.)?(archive|security)\.ubuntu\.com/ubuntu/?#$PORTS#g"
    fi <"$file" | sed -E '/^Architectures:/d; s/\[?arch=[a-z0-9,]+\]?//' >"$arm64/apt/${file#"$sources"/}"
  done
}

apt_for_arm64() {
  apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Debug::NoLocking=1 \
    -o Dir::Etc="$arm64/apt" -o Dir::Etc::Trusted=/etc/apt/trusted.gpg -o Dir::Etc::TrustedParts=/etc/apt/trusted.gpg.d \
    -o Dir::State="$arm64/apt" -o Dir::State::status="$arm64/apt/status" -o Dir::Cache="$arm64/apt" "$@"
}

stamp="$({ cat "${BASH_SOURCE[0]}" /etc/os-release; echo "${ARM64_MIRROR:-}"; } | hash_of)"
[ "$(cat "$arm64/.complete" 2>/dev/null || true)" != "$stamp" ] || exit 0
have apt-get && have dpkg-deb || die "arm64's libraries come from apt: use Debian 12, Ubuntu 24.04 or newer"
say "unpacking arm64's ${PACKAGES[*]} into ${arm64#"$ROOT"/}/sysroot"
rm -rf "$arm64"
mkdir -p "$arm64"/apt/{lists/partial,archives/partial,preferences.d} "$arm64/sysroot/usr/lib"
ln -s usr/lib "$arm64/sysroot/lib"  # older packages still say lib, newer ones usr/lib
: >"$arm64/apt/status"              # nothing is installed there, so apt fetches everything that is needed
own_sources
logged arm64-update "check the network" apt_for_arm64 -o APT::Update::Error-Mode=any update
logged arm64-packages "run 'make arm64' again" apt_for_arm64 install -y --download-only --no-install-recommends "${PACKAGES[@]}"
for package in "$arm64"/apt/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$arm64/sysroot"
done
rm -rf "$arm64/apt"
echo "$stamp" >"$arm64/.complete"
