#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The README's two commands and the packages in bare Debians and Ubuntus; see distros.py.
#   distros.sh [--record] [--part PART]... [RELEASE...]
#   distros.sh --quick RELEASE     the part that CI has time for; one line, and no failure, if this is not root
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

# refuse WHY ADVICE: CI goes on without this part.
refuse() {
  [ "$quick" != --quick ] || { say "other releases: skipped: $1"; exit 0; }
  die "$1: $2"
}
quick="${1:-}"
become_root || refuse "other releases are bootstrapped as root" "use 'sudo make distros'"
have dpkg || refuse "other releases are bootstrapped by mmdebstrap" "use a Debian or Ubuntu"
[ "$(dpkg --print-architecture)" = amd64 ] || refuse "ROS 2 comes as wheels for x86-64 only" "use such a machine"
"${as_root[@]}" unshare --mount --pid --fork --mount-proc true 2>/dev/null ||
  refuse "other releases need mounts of their own" "use a machine, or a container that may mount"
mkdir -p "$DEPS/log"
need distros mmdebstrap git
[ "$quick" = --quick ] || need distros ip=iproute2 apt-ftparchive=apt-utils gpg
require_git
exec "${as_root[@]}" /usr/bin/python3 tools/distros.py "$@"
