#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# colcon build, skipped when nothing that a build depends on has changed since the last good one.
#   build.sh [TARGET...]     targets of the engine that are built on demand: engine_tests, micro_benchmarks
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

# Python modules are installed as links: editing one needs no build, adding or removing one does.
signature() {
  {
    find src \( -name __pycache__ -o -name .pytest_cache -o -name .hypothesis -o -name '*.egg-info' \) -prune -o -type f -name '*.py' \
      ! -name setup.py -printf '%p\n' -o -type f ! -name '*.pyc' -printf '%p %s %T@\n'
    stat -Lc '%n %s %Y' colcon.meta colcon_defaults.yaml tools/cmake/workspace.cmake .venv/.pqcmav-stamp
    readlink .deps/liboqs
  } | LC_ALL=C sort | hash_of
}

# The kernel reads no blank in a script's first line, and setuptools writes the path of .venv there: in a folder with a
# blank in its name the shell has to call the interpreter. Python takes the two lines for a string.
call_by_shell() {
  local script
  [[ "$ROOT" = *[[:space:]]* ]] || return 0
  while IFS= read -r -d '' script; do
    [[ "$(head -n 1 "$script" | tr -d '\0"')" = "#!$VENV/bin/python"* ]] || continue
    {
      printf "#!/bin/sh\n'''exec' \"%s\" \"\$0\" \"\$@\"\n' '''\n" "$VENV/bin/python"
      tail -n +2 "$script"
    } >"$script.new"
    chmod --reference="$script" "$script.new"
    mv "$script.new" "$script"
  done < <(find install/bin install/lib -maxdepth 2 -type f -perm -u+x -print0)
}

# The wheels lack rclcpp: nothing could use messages in C++ there, which take as long to make as all others.
with_rclcpp() {
  local place
  while IFS= read -r -d : place; do
    [ ! -d "$place/share/rclcpp" ] || return 0
  done <<<"$(tools/run printenv AMENT_PREFIX_PATH || true):"
  return 1
}

left_out=()
with_rclcpp || left_out=(--packages-skip pqc_mav_proxy_cpp)
before="$(signature)${left_out:+-without-rclcpp}"
if ! [ -d install ] || [ "$(cat build/.pqcmav-stamp 2>/dev/null || true)" != "$before" ]; then
  say "building the packages with colcon"
  mkdir -p build "$DEPS"
  rm -f build/.pqcmav-engine_tests # a module of theirs is in the installation
  # colcon's own limit also minds the machine's load, of which the step before left plenty: half the cores would idle.
  jobs="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
  export CMAKE_BUILD_PARALLEL_LEVEL="$jobs" MAKEFLAGS="-j$jobs"
  # A starter that setuptools once wrote stands in the way of the script that is linked there.
  [ -L install/bin/pqcmav ] || rm -f install/bin/pqcmav
  # Tests and micro-benchmarks are left to the targets below; colcon alone compiles them, for 'colcon test' after it.
  sed 's/PQCMAV_ON_DEMAND=OFF/PQCMAV_ON_DEMAND=ON/' colcon.meta >"$DEPS/colcon.meta"
  if [ -n "${left_out:-}" ]; then
    say "no rclcpp here: messages for C and Python only, and no proxy in C++"
    sed -i 's/PQC_MAV_CPP_MESSAGES=ON/PQC_MAV_CPP_MESSAGES=OFF/' "$DEPS/colcon.meta"
  fi
  tools/run colcon --log-base "$DEPS/log/colcon" build --base-paths src --metas "$DEPS/colcon.meta" --continue-on-error "${left_out[@]}" ||
    die "the build failed; logs are in .deps/log/colcon/latest_build"
  call_by_shell
  # A file changed meanwhile differs from this signature and is built next time.
  printf '%s\n' "$before" >build/.pqcmav-stamp
fi

# None of this changes the configuration, so that the next colcon build finds all it made.
for target in "$@"; do
  stamp="build/.pqcmav-$target"
  if [ "$(cat "$stamp" 2>/dev/null || true)" = "$before" ]; then continue; fi
  say "building $target on top"
  tools/run cmake --build build/pqc_mav_tunnel --target "$target" -- --quiet || die "the build of $target failed"
  printf '%s\n' "$before" >"$stamp"
done
