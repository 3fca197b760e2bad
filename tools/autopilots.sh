#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds ArduPilot's and PX4's simulators where they are not built yet, and flies them (chaos/run autopilots).
#   autopilots.sh ARDUPILOT PX4 [options]     folders of sources with their submodules; both empty = clones in .deps
# A folder in which the program is built already is used as it is.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

readonly ARDUPILOT_TAG=Copter-4.6.0 PX4_TAG=v1.15.4
readonly ARDUPILOT_PROGRAM=build/sitl/bin/arducopter PX4_PROGRAM=build/px4_sitl_default/bin/px4
# What the two builds need of Python; not for this project's own environment, whose versions are others.
readonly PACKAGES=(empy==3.3.4 future==1.0.0 pexpect==4.9.0 kconfiglib==14.1.0 jinja2==3.1.4 jsonschema==4.23.0
  pyyaml==6.0.2 pyros-genmsg==0.5.8 packaging==24.1 toml==0.10.2 numpy==2.1.2 lxml==5.3.0 setuptools==75.1.0)

# clone NAME URL TAG: prints the folder.
clone() {
  local folder="$DEPS/autopilots/$1-$3"
  if [ ! -d "$folder" ]; then
    say "cloning $1 $3 (once)" >&2
    logged "$1" "or give the folder of its sources" git clone -q --depth 1 --recurse-submodules --shallow-submodules \
      -b "$3" "$2" "$folder.work" >&2
    mv "$folder.work" "$folder"
  fi
  printf '%s\n' "$folder"
}

# Build with the Python that the autopilots expect first on the path.
built() {
  local name="$1" folder="$2" venv="$DEPS/autopilots/venv"
  shift 2
  if [ ! -e "$venv/complete" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    logged autopilots "" "$venv/bin/pip" -q install "${PACKAGES[@]}"
    touch "$venv/complete"
  fi
  say "building $name (once; half an hour on a small machine)"
  (cd "$folder" && PATH="$venv/bin:$PATH" PYTHONPATH="" logged "$name" "" bash -c "$*")
}

ARDUPILOT="${1:-}" PX4="${2:-}"
shift 2 || die "usage: tools/autopilots.sh ARDUPILOT PX4 [options]"
if [ -z "$ARDUPILOT$PX4" ]; then
  ARDUPILOT="$(clone ardupilot https://github.com/ArduPilot/ardupilot.git "$ARDUPILOT_TAG")"
  PX4="$(clone px4 https://github.com/PX4/PX4-Autopilot.git "$PX4_TAG")"
fi
for folder in "$ARDUPILOT" "$PX4"; do
  [ -z "$folder" ] || [ -d "$folder" ] || die "$folder is no folder: give that of the autopilot's sources"
done
if [ -n "$ARDUPILOT" ] && [ ! -x "$ARDUPILOT/$ARDUPILOT_PROGRAM" ]; then
  [ -f "$ARDUPILOT/waf" ] || die "ARDUPILOT=$ARDUPILOT is not ArduPilot's folder, which has a file 'waf'"
  built ardupilot "$ARDUPILOT" "python waf configure --board sitl --no-submodule-update && python waf copter -j2"
fi
if [ -n "$PX4" ] && [ ! -x "$PX4/$PX4_PROGRAM" ]; then
  [ -d "$PX4/boards/px4/sitl" ] || die "PX4=$PX4 is not PX4's folder, which has a folder 'boards/px4/sitl'"
  built px4 "$PX4" "make px4_sitl_default"
fi
ARDUPILOT="$ARDUPILOT" PX4="$PX4" exec tools/run chaos/run autopilots "$@"
