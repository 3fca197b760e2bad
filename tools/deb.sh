#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian packages of pqcmav-tunneld and of the command pqcmav in build-deb: for this machine and, on x86-64, for 64-bit
# ARM by cross compilation. Each is then installed, run, upgraded, removed and purged in a fresh Debian.
#   deb.sh            after setup.sh
#   deb.sh --no-test  only makes the packages
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

native="$(dpkg --print-architecture 2>/dev/null)" || die "packages are made on Debian or Ubuntu"
architectures=("$native")
if [ "$native" = amd64 ]; then architectures+=(arm64); fi
# What is packed twice from the same commit has the same bytes.
SOURCE_DATE_EPOCH="$(git log -1 --format=%ct 2>/dev/null || stat -c %Y src/pqc_mav_tunnel/package.xml)"
export SOURCE_DATE_EPOCH

compilers() {
  local python needed
  python="$("$PYTHON3" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')"
  needed=("dpkg-shlibdeps=dpkg-dev" "/usr/include/$python/Python.h=python3-dev")
  if [ "$native" = amd64 ]; then needed+=("aarch64-linux-gnu-g++=crossbuild-essential-arm64"); fi
  need deb "${needed[@]}"
}

# What the packages are tested with.
test_tools() {
  local needed=(mmdebstrap ip=iproute2)
  if [ "$native" = amd64 ]; then needed+=("${EMULATION[@]}"); fi
  need deb "${needed[@]}"
}

test_packages() {
  local as_root
  become_root || die "packages are installed and run in a chroot, which needs root: use 'sudo make deb'"
  tools/debian_base.sh "$1" && "${as_root[@]}" "$PYTHON3" tools/deb_test.py "$DEPS/debian/$1.tar" build-deb/*_"$1".deb
}

# The system's own: packages are for it.
PYTHON3=/usr/bin/python3
mkdir -p "$DEPS/log"
rm -f build-deb/*.deb
step "compilers" compilers
for arch in "${architectures[@]}"; do
  if [ "$arch" != "$native" ]; then step "libraries of $arch" tools/arm64_sysroot.sh; fi
  step "programs for $arch" tools/deb_build.sh "$arch"
done
for arch in "${architectures[@]}"; do step "packages for $arch" tools/deb_pack.sh "$arch" "$native"; done
if [ "${1:-}" != --no-test ]; then
  step "tools of the test" test_tools
  for arch in "${architectures[@]}"; do step "packages for $arch in a fresh Debian" test_packages "$arch"; done
  if have lintian; then step "lintian" lintian --fail-on error build-deb/*.deb; else say "lintian is not installed: not run"; fi
fi

(cd build-deb && ls -l -- *.deb | awk '{printf "%9d bytes  %s\n", $5, $9}')
printf '%s\n' "${steps[@]}"
