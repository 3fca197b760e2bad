#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The engine's tests under AddressSanitizer with UndefinedBehaviorSanitizer, and under ThreadSanitizer, each in a build
# folder of its own; and whether the time of anything in the engine, as it is shipped, depends on a secret.
#   sanitize.sh [address,undefined] [thread] [constant-time]
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

[ $# -gt 0 ] || set -- address,undefined thread constant-time
export ASAN_OPTIONS="detect_leaks=1:strict_string_checks=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1:${UBSAN_OPTIONS:-}"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:${TSAN_OPTIONS:-}"

constant_time() {
  say "secrets under valgrind, and times"
  need valgrind valgrind
  tools/run cmake build/pqc_mav_tunnel >/dev/null  # looks for valgrind's header again
  tools/run cmake --build build/pqc_mav_tunnel --target constant_time -- --quiet || return
  tools/run python tools/constant_time.py build/pqc_mav_tunnel/constant_time
}

failed=()
for kind in "$@"; do
  if [ "$kind" = constant-time ]; then
    constant_time || failed+=("$kind")
    continue
  fi
  build="build-${kind//,/-}"
  say "engine tests with -fsanitize=$kind in $build"
  logged "configure-$build" "" tools/run cmake -S src/pqc_mav_tunnel -B "$build" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPQCMAV_SANITIZE="$kind" -DPQCMAV_WERROR=ON -DPQCMAV_PYTHON=OFF \
    -DPQCMAV_MICRO_BENCHMARKS=OFF -DBUILD_TESTING=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
  tools/run cmake --build "$build" --parallel "$(nproc)" -- --quiet || die "the $kind build failed"
  tools/run ctest --test-dir "$build" --output-on-failure -j "$(nproc)" --label-exclude 'pytest|linter' \
    --no-tests=error || failed+=("$kind")
done
[ ${#failed[@]} -eq 0 ] || die "tests failed under: ${failed[*]}"
say "no finding under: $*"
