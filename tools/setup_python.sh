#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes .venv from the lists in requirements/locked/, which pin every file by its hash. With a ROS 2 installation
# sourced: on top of the system's packages and without the ROS 2 wheels. Without one they are Jazzy's, and Kilted's with
# ROS_DISTRO=kilted.
#   setup_python.sh [analysis] [dashboard] [test] [lint] [detect] [train]
#   setup_python.sh packages
# The packages that run the nodes are always installed, unless only Debian packages are to be made; the named layers
# once they are asked for. What is there stays.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

mode="$(ros_mode)"
python="$("$ROOT/tools/find_python.sh")"
ros="$(if [ "$mode" = wheels ]; then wheels_of; else echo "${ROS_DISTRO:-}"; fi)"
of="$mode $ros"
base="${of/wheels jazzy/wheels } $python $("$python" -c 'import platform; print(platform.python_version())') $ROOT"
stamp="$VENV/.pqcmav-stamp"

# Prints the files in requirements/locked/ that a layer consists of.
lists_of() {
  case "$1" in
    run) if [ "$mode" = wheels ]; then echo system wheels "ros-$ros"; else echo system; fi ;;
    packages) echo system ;;  # the wheels of ROS 2 are for x86-64 alone
    analysis) echo analysis ;;
    dashboard) echo dashboard ;;  # Starlette, uvicorn
    lint) echo lint test ;;  # with the tests' packages: mypy reads their types
    test) echo test test-nodeps ;;
    detect) echo detect ;;  # ONNX Runtime, xgboost
    train) echo detect train ;;  # PyTorch: some gigabytes
  esac
}
content_of() {
  local list
  for list in $(lists_of "$1"); do cat "$ROOT/requirements/locked/$list.txt"; done | hash_of
}
# The stamp of what runs also tells with which interpreter .venv was made; build.sh looks at it.
stamp_of() { if [ "$1" = run ]; then echo "$stamp"; else echo "$VENV/.pqcmav-$1"; fi; }

ready() {
  [ "$(head -n 1 "$stamp" 2>/dev/null || true)" = "$base" ] &&
    [ "$(tail -n 1 "$(stamp_of "$1")" 2>/dev/null || true)" = "$(content_of "$1")" ]
}

named=(run "$@") layers=()
if [ "$*" = packages ]; then
  ! ready run || exit 0
  named=(packages)
fi
for layer in "${named[@]}"; do ready "$layer" || layers+=("$layer"); done
[ ${#layers[@]} -gt 0 ] || exit 0
# A user who names another source knows what is there.
from_index=true
if [ -n "${PIP_INDEX_URL:-}${PIP_NO_INDEX:-}${PIP_FIND_LINKS:-}" ]; then from_index=false; fi
if $from_index; then require_network "Python packages"; fi

if [ "$mode" = wheels ] && [ "$(uname -m)" != x86_64 ] && [ "$*" != packages ]; then
  die "the wheels of ROS 2 are for x86-64 alone: source an installed ROS 2, as by '. /opt/ros/jazzy/setup.bash', and run make again"
fi
if [ "$(head -n 1 "$stamp" 2>/dev/null || true)" != "$base" ]; then
  # Another interpreter or another ROS 2: what was built against the old one is of no use any more.
  rm -rf "$VENV" "$ROOT/build" "$ROOT/install"
  options=()
  if [ "$mode" = system ]; then options=(--system-site-packages); fi
  logged venv "install python3-venv" "$python" -m venv "${options[@]}" "$VENV"
  # Half a stamp: a run that stops below is taken up again, not begun anew.
  printf "%s\n" "$base" >"$stamp"
fi

# pip itself would try for minutes where nothing answers. A connection tells as much, and on a busy machine sooner than
# pip starts; behind a proxy it tells nothing.
if $from_index && [ -z "${HTTPS_PROXY:-}${https_proxy:-}${ALL_PROXY:-}${all_proxy:-}" ]; then
  index="$("$VENV/bin/python" -m pip config list 2>/dev/null | sed -n "s/^[a-z:.]*index-url='\(.*\)'$/\1/p" | head -n 1)"
  index="${index:-https://pypi.org/simple}"
  probe='
import signal, socket, sys, urllib.parse
signal.alarm(8)  # looking up a name has a time limit of its own
url = urllib.parse.urlsplit(sys.argv[1])
socket.create_connection((url.hostname, url.port or (80 if url.scheme == "http" else 443)), 5).close()
'
  mkdir -p "$DEPS/log"
  ("$VENV/bin/python" -c "$probe" "$index"; exit) >"$DEPS/log/pip.log" 2>&1 ||
    die "no network? the index of Python packages does not answer; connect this machine and run make again (whole output: .deps/log/pip.log)"
fi
say "installing the pinned Python packages into .venv (${layers[*]})"
arguments=()
for layer in "${layers[@]}"; do
  for list in $(lists_of "$layer"); do
    [ "$list" = test-nodeps ] || arguments+=(-r "$ROOT/requirements/locked/$list.txt")
  done
done
pip=("$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes)
# The wheels' start-up hook has nothing to set for pip, and would restart it.
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
logged pip "Python packages come from PyPI" "${pip[@]}" "${arguments[@]}"
if [[ " ${layers[*]} " = *" test "* ]]; then
  logged pip-nodeps "Python packages come from PyPI" "${pip[@]}" --no-deps -r "$ROOT/requirements/locked/test-nodeps.txt"
fi

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
for layer in "${layers[@]}"; do
  if [ "$layer" = run ]; then
    printf '%s\n%s\n' "$base" "$(content_of run)" >"$stamp"
  else
    content_of "$layer" >"$(stamp_of "$layer")"
  fi
done
