#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each package's source archive builds alone, in a bare Debian with what its package.xml declares; see release_check.py.
#   release_check.sh [PACKAGE...]
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

become_root || die "a bare system is bootstrapped as root: use 'sudo make release-check'"
[ "$(ros_mode)" = wheels ] || die "the check takes ROS 2 from the wheels in .venv: use a shell without a sourced ROS 2"
"${as_root[@]}" unshare --mount --pid --fork --mount-proc true 2>/dev/null ||
  die "a bare system needs mounts of its own: use a machine, or a container that may mount"
mkdir -p "$DEPS/log"
need release-check mmdebstrap git
require_git
tools/debian_base.sh "$(dpkg --print-architecture)"
exec "${as_root[@]}" .venv/bin/python tools/release_check.py "$@"
