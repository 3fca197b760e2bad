#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bootstraps a minimal Debian or Ubuntu, once a week: what packages and first steps are tried in, and the base of
# container images where no registry can be reached.
#   debian_base.sh ARCHITECTURE            this machine's release, into .deps/debian/ARCHITECTURE.tar
#   debian_base.sh ARCHITECTURE RELEASE    the one of this codename, into .deps/debian/RELEASE-ARCHITECTURE.tar; exit
#                                          code 3 if its archive cannot be reached
# UBUNTU_MIRROR=URL takes Ubuntu from there.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

readonly DEBIAN=http://deb.debian.org/debian UBUNTU="${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}"
# Debian has no package of the keys that sign Ubuntu's archive.
readonly UBUNTU_KEYS=ubuntu-keyring_2023.11.28.1_all.deb
readonly UBUNTU_KEYS_SHA256=36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8

arch="$1"
release="${2:-}"
tar="$DEPS/debian/${release:+$release-}$arch.tar"
fetch() { /usr/lib/apt/apt-helper -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 download-file "$@" >/dev/null 2>&1; }

# Sets `sources`, with which mmdebstrap finds Ubuntu's packages.
ubuntu_sources() {
  local pocket keys="/usr/share/keyrings/ubuntu-archive-keyring.gpg" deb="$DEPS/debian/$UBUNTU_KEYS"
  if [ ! -f "$keys" ]; then
    fetch "$UBUNTU/pool/main/u/ubuntu-keyring/$UBUNTU_KEYS" "$deb" "SHA256:$UBUNTU_KEYS_SHA256" ||
      die "the keys of Ubuntu's archive, $UBUNTU_KEYS, cannot be fetched, or are not those that are pinned here"
    dpkg-deb -x "$deb" "$DEPS/debian/ubuntu-keyring"
    keys="$DEPS/debian/ubuntu-keyring$keys"
  fi
  sources=("--keyring=$keys" "$release" "$tar.new")
  for pocket in "" -updates -security; do sources+=("deb $UBUNTU $release$pocket main universe"); done
}

if [ -z "$release" ]; then
  # shellcheck source=/dev/null
  release="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
  [ -n "$release" ] || die "this system does not name its release: packages and images are made on Debian or Ubuntu"
fi

become_root || die "a Debian is bootstrapped as root: use 'sudo make'"
# Foreign programs run where the kernel knows their interpreter; in a container nobody has told it yet.
if [ "$arch" != "$(dpkg --print-architecture)" ] && [ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
  logged binfmt "" "${as_root[@]}" bash -c '
    mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
    update-binfmts --enable qemu-aarch64'
fi
if [ -n "$(find "$tar" -mtime -7 2>/dev/null)" ]; then exit 0; fi
mkdir -p "${tar%/*}"
sources=("$release" "$tar.new")
if [ $# -gt 1 ]; then
  archive="$DEBIAN"
  case "$release" in noble | resolute) archive="$UBUNTU" ;; esac
  fetch "$archive/dists/$release/InRelease" "$DEPS/debian/InRelease" || exit 3
  if [ "$archive" = "$UBUNTU" ]; then ubuntu_sources; else need debian /usr/share/keyrings/debian-archive-keyring.gpg=debian-archive-keyring; fi
fi
# As the slim images: no manuals and translations, but all licences. apt is no required package of Ubuntu.
logged "debian-$release-$arch" "check the network" "${as_root[@]}" mmdebstrap --format=tar --variant=minbase \
  --include=apt --architectures="$arch" \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --dpkgopt='path-include=/usr/share/doc/pqcmav*' --aptopt='Acquire::Languages "none"' "${sources[@]}"
mv "$tar.new" "$tar"
