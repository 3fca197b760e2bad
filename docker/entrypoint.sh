#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command of the suite: in the environment of the image's ROS 2, where it has one, and of this workspace.
set -eo pipefail

for setup in /opt/ros/*/setup.bash; do
  # shellcheck source=/dev/null
  if [ -f "$setup" ]; then . "$setup"; fi
done
exec "$(dirname "${BASH_SOURCE[0]}")/../tools/run" "$@"
