#!/usr/bin/env bash
# Everything between a fresh clone and a built workspace. Each step is stamped: a second run only looks.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

# Refuses a ROS 2 that is too old before anything is touched.
ros_mode >/dev/null
mkdir -p "$DEPS/log"
# Two make commands at once must not build into each other.
exec 9>"$DEPS/lock"
flock 9

"$ROOT/tools/setup_system.sh"
# The compiler is busy with liboqs while pip waits for the network.
"$ROOT/tools/setup_liboqs.sh" 9>&- &
liboqs=$!
python_ok=0
"$ROOT/tools/setup_python.sh" 9>&- || python_ok=1
wait "$liboqs" && [ "$python_ok" = 0 ] || exit 1
"$ROOT/tools/build.sh" 9>&-
