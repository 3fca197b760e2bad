# SPDX-License-Identifier: Apache-2.0
# The environment to run anything of this workspace in. Use:  . tools/env.sh   or   tools/run CMD...
# Reads only a few small files, so it costs a fraction of colcon's own setup.bash, which remains usable.
# shellcheck shell=bash

# A shell that cannot tell the name of a sourced file gets it through PQCMAV_ROOT.
if [ -n "${BASH_SOURCE:-}" ]; then
  PQCMAV_ROOT="$(cd "$(dirname "$BASH_SOURCE")/.." && pwd)"
elif [ -f "$(dirname "$0")/env.sh" ]; then
  PQCMAV_ROOT="$(cd "$(dirname "$0")/.." && pwd)"
fi
export PQCMAV_ROOT
# shellcheck source=ros.sh
. "$PQCMAV_ROOT/tools/ros.sh"

# _pm_prepend VAR DIR: puts DIR first unless it is there already or does not exist.
_pm_prepend() {
  [ -d "$2" ] || return 0
  _pm_old=
  eval "_pm_old=\${$1:-}"
  case ":$_pm_old:" in
    *":$2:"*) ;;
    *) eval "export $1=\"\$2\${_pm_old:+:\$_pm_old}\"" ;;
  esac
}

# A sourced ROS 2 installation wins; otherwise the wheels in .venv are the ROS 2 prefix.
if [ -z "${ROS_DISTRO:-}" ] || [ -z "${AMENT_PREFIX_PATH:-}" ]; then
  for _pm_dir in "$PQCMAV_ROOT"/.venv/lib/python3*/site-packages/ros_*.libs; do
    _pm_prepend LD_LIBRARY_PATH "$_pm_dir"
  done
  _pm_prepend LD_LIBRARY_PATH "$PQCMAV_ROOT/.venv/lib"
  _pm_prepend AMENT_PREFIX_PATH "$PQCMAV_ROOT/.venv"
  # The wheels' start-up hook would re-execute every Python to set what was just set.
  export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
fi

_pm_prepend PATH "$PQCMAV_ROOT/.venv/bin"
_pm_prepend PATH "$PQCMAV_ROOT/install/bin"
_pm_prepend AMENT_PREFIX_PATH "$PQCMAV_ROOT/install"
_pm_prepend CMAKE_PREFIX_PATH "$PQCMAV_ROOT/install"
_pm_prepend LD_LIBRARY_PATH "$PQCMAV_ROOT/install/lib"
for _pm_dir in "$PQCMAV_ROOT"/install/lib/python3*/site-packages; do
  _pm_prepend PYTHONPATH "$_pm_dir"
done
# Python packages installed as links are imported from their build folders; colcon's hooks name them.
for _pm_hook in "$PQCMAV_ROOT"/build/*/share/*/hook/pythonpath_develop.dsv; do
  [ -f "$_pm_hook" ] || continue
  while IFS=';' read -r _ _ _pm_dir || [ -n "$_pm_dir" ]; do
    _pm_prepend PYTHONPATH "$_pm_dir"
    _pm_dir=
  done <"$_pm_hook"
done

# liboqs-python and the packages' CMake files look here. colcon alone has it built and installed by liboqs_vendor.
export OQS_INSTALL_PATH="$PQCMAV_ROOT/.deps/liboqs"
if ! [ -d "$OQS_INSTALL_PATH" ] && [ -d "$PQCMAV_ROOT/install/opt/liboqs_vendor" ]; then
  export OQS_INSTALL_PATH="$PQCMAV_ROOT/install/opt/liboqs_vendor"
fi
_pm_prepend CMAKE_PREFIX_PATH "$PQCMAV_ROOT/.deps/liboqs"
for _pm_dir in "$PQCMAV_ROOT"/.venv/lib/python3*/site-packages/pybind11; do
  _pm_prepend CMAKE_PREFIX_PATH "$_pm_dir"
done

export COLCON_DEFAULTS_FILE="$PQCMAV_ROOT/colcon_defaults.yaml"
if command -v ninja >/dev/null 2>&1; then
  export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"
fi
# Nothing leaves this machine unless its owner says otherwise.
export ROS_AUTOMATIC_DISCOVERY_RANGE="${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}"
# That limits whom a node looks for; this, who can talk to it. Fast DDS 2 (Jazzy) reads the first variable; Fast DDS 3
# (Kilted), whose package has another name, reads the second, and complains in each process of the first.
_pm_profile="$PQCMAV_ROOT/src/pqc_mav_bringup/config/fastdds_loopback.xml"
case "$ROS_AUTOMATIC_DISCOVERY_RANGE" in
  LOCALHOST | OFF)
    if [ -z "${FASTRTPS_DEFAULT_PROFILES_FILE:-}${FASTDDS_DEFAULT_PROFILES_FILE:-}" ]; then
      _pm_old="${AMENT_PREFIX_PATH:-}:"
      _pm_reads=FASTRTPS_DEFAULT_PROFILES_FILE
      while [ -n "$_pm_old" ]; do
        if [ -d "${_pm_old%%:*}/share/fastdds" ]; then _pm_reads=FASTDDS_DEFAULT_PROFILES_FILE; fi
        _pm_old="${_pm_old#*:}"
      done
      export "$_pm_reads=$_pm_profile"
    fi ;;
  *)
    if [ "${FASTRTPS_DEFAULT_PROFILES_FILE:-}" = "$_pm_profile" ]; then unset FASTRTPS_DEFAULT_PROFILES_FILE; fi
    if [ "${FASTDDS_DEFAULT_PROFILES_FILE:-}" = "$_pm_profile" ]; then unset FASTDDS_DEFAULT_PROFILES_FILE; fi ;;
esac

unset _pm_dir _pm_hook _pm_old _pm_profile _pm_reads
unset -f _pm_prepend
