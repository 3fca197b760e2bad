# SPDX-License-Identifier: Apache-2.0
# Sources the ROS 2 that this clone was set up with, in a shell that has sourced none: systemd's, or that of a new login.
# For env.sh and lib.sh, with the clone's folder in PQCMAV_ROOT.
# shellcheck shell=bash

_pm_mode='' _pm_ros=''
if [ -z "${ROS_DISTRO:-}${AMENT_PREFIX_PATH:-}" ] && [ -r "$PQCMAV_ROOT/.venv/.pqcmav-stamp" ]; then
  read -r _pm_mode _pm_ros _ <"$PQCMAV_ROOT/.venv/.pqcmav-stamp" || true
fi
_pm_ros="${PQCMAV_ROS_FOLDER:-/opt/ros}/$_pm_ros/setup.${BASH_VERSION:+ba}sh"
if [ "$_pm_mode" = system ] && [ -r "$_pm_ros" ]; then
  # ROS' own files read variables that are not set.
  # shellcheck source=/dev/null
  case $- in *u*) set +u; . "$_pm_ros"; set -u ;; *) . "$_pm_ros" ;; esac
fi
unset _pm_mode _pm_ros
