#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bootstraps a minimal Debian of this machine's release into .deps/debian/ARCHITECTURE.tar, once a week: what packages
# are tried in, and the base of container images where no registry can be reached.     debian_base.sh amd64|arm64
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

arch="$1"
tar="$DEPS/debian/$arch.tar"
# shellcheck source=/dev/null
suite="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
[ -n "$suite" ] || die "this system does not name its release: packages and images are made on Debian or Ubuntu"

become_root || die "a Debian is bootstrapped as root: use 'sudo make'"
# Foreign programs run where the kernel knows their interpreter; in a container nobody has told it yet.
if [ "$arch" != "$(dpkg --print-architecture)" ] && [ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
  logged binfmt "" "${as_root[@]}" bash -c '
    mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
    update-binfmts --enable qemu-aarch64'
fi
if [ -n "$(find "$tar" -mtime -7 2>/dev/null)" ]; then exit 0; fi
mkdir -p "${tar%/*}"
# As the slim images: no manuals and translations, but all licences.
logged "debian-$arch" "check the network" "${as_root[@]}" mmdebstrap --format=tar --variant=minbase --architectures="$arch" \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --dpkgopt='path-include=/usr/share/doc/pqcmav*' --aptopt='Acquire::Languages "none"' "$suite" "$tar.new"
mv "$tar.new" "$tar"
