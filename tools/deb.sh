#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian packages of pqcmav-tunneld and of the command pqcmav in build-deb: for this machine and, on x86-64, for 64-bit
# ARM by cross compilation. Each is then installed from a signed repository, run, upgraded, removed and purged in a fresh
# Debian, and everything is made once more in another folder, with the same bytes. With SIGN_KEY=KEY they are also put
# into build-deb/repository, signed by that key of gpg's; with ALSO_ON="SUITE..." they are tried in other releases too.
#   deb.sh [ARCHITECTURE...]            after setup.sh
#   deb.sh --no-test [ARCHITECTURE...]  only makes the packages
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

native="$(dpkg --print-architecture 2>/dev/null)" || die "packages are made on Debian or Ubuntu"
tested=1
if [ "${1:-}" = --no-test ]; then
  tested=''
  shift
fi
architectures=("$@")
if [ $# = 0 ]; then
  architectures=("$native")
  if [ "$native" = amd64 ]; then architectures+=(arm64); fi
fi
others=()
for arch in "${architectures[@]}"; do
  if [ "$arch" != "$native" ]; then others+=("$arch"); fi
done
# What is packed twice from the same commit has the same bytes: deb_again.sh tries it.
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y src/pqc_mav_tunnel/package.xml)}"
export SOURCE_DATE_EPOCH

compilers() {
  local needed=("dpkg-shlibdeps=dpkg-dev" apt-ftparchive=apt-utils gpgv gpg) arch
  for arch in "${others[@]}"; do
    cross_target "$arch"
    needed+=("${cross_tools[0]}")
  done
  need deb "${needed[@]}"
}

# What the packages are tested with.
test_tools() {
  local needed=(mmdebstrap ip=iproute2 lintian)
  if [ ${#others[@]} -gt 0 ]; then needed+=("${EMULATION[@]}"); fi
  need deb "${needed[@]}"
}

test_packages() {
  local as_root
  become_root || die "packages are installed and run in a chroot, which needs root: use 'sudo make deb'"
  tools/debian_base.sh "$@" &&
    "${as_root[@]}" "$PYTHON3" tools/deb_test.py "$DEPS/debian/${2:+$2-}$1.tar" build-deb
}

PYTHON3=/usr/bin/python3
mkdir -p "$DEPS/log"
rm -f build-deb/*.deb
step "compilers" compilers
for arch in "${others[@]}"; do step "libraries of $arch" tools/cross_sysroot.sh "$arch"; done
# Every package takes from this machine's own program what its libraries are called, and the manual pages.
for arch in "$native" "${others[@]}"; do step "programs for $arch" tools/deb_build.sh "$arch"; done
# The command's first: the manual pages of all are made by it.
for arch in all "${architectures[@]}"; do step "packages for $arch" tools/deb_pack.sh "$arch" "$native"; done
if [ -n "$tested" ]; then
  step "tools of the test" test_tools
  for arch in "${architectures[@]}"; do step "packages for $arch in a fresh Debian" test_packages "$arch"; done
  for suite in ${ALSO_ON:-}; do step "the same packages on $suite" test_packages "$native" "$suite"; done
  # The one warning is about Debian's own bug tracker.
  step "lintian" lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs build-deb/*.deb
  step "the same bytes in another folder" tools/deb_again.sh "${architectures[@]}"
fi
if [ -n "${SIGN_KEY:-}" ]; then step "apt repository" tools/deb_repository.sh build-deb/repository "$SIGN_KEY"; fi

(cd build-deb && ls -l -- *.deb | awk '{printf "%9d bytes  %s\n", $5, $9}')
printf '%s\n' "${steps[@]}"
