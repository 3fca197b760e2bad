#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything between a fresh clone and a workspace that runs. Each step is stamped: a second run only looks.
#   setup.sh [PART...]     what is needed besides, and stays once it is there:
#     demo                 no more of liboqs than a first demo flies, unless the whole is there
#     analysis             Python packages of the benchmark's analysis, of plots and of training
#     dashboard            the web server of 'pqcmav dashboard'
#     detect, train        ONNX Runtime and xgboost for the detectors; PyTorch to train the transformer
#     test                 those of the tests, and the engine's tests and micro-benchmarks compiled
#     chaos                those of the fault laboratory, without the engine's tests
#     lint                 ruff, mypy, clang-format
#     benchmarks           the engine's micro-benchmarks compiled
#     packages             no workspace: what 'make deb' starts from
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

layers=() targets=() liboqs_part=() workspace=1
for part in "$@"; do
  case "$part" in
    demo) liboqs_part=(demo) ;;
    analysis | dashboard | lint | detect | train) layers+=("$part") ;;
    test) layers+=(test) targets+=(engine_tests micro_benchmarks) ;;
    chaos) layers+=(analysis test) ;;
    benchmarks) targets+=(micro_benchmarks) ;;
    packages) workspace='' ;;
    *) die "no part '$part' of the set-up: there are demo, analysis, dashboard, test, chaos, lint, detect, train, benchmarks and packages" ;;
  esac
done

# Refuses another user's clone, and a ROS 2 that is too old or not known, before anything is touched.
require_own_clone
mode="$(ros_mode)"
[ "$mode" = system ] || wheels_of >/dev/null
mkdir -p "$DEPS/log"
# Two make commands at once must not build into each other.
exec 9>"$DEPS/lock"
flock 9

"$ROOT/tools/setup_system.sh" "${liboqs_part[@]}"
if [ -z "$workspace" ]; then
  "$ROOT/tools/setup_python.sh" packages 9>&-
  exit
fi
# The compiler is busy with liboqs while pip waits for the network.
"$ROOT/tools/setup_liboqs.sh" "${liboqs_part[@]}" 9>&- &
liboqs=$!
python_ok=0
"$ROOT/tools/setup_python.sh" "${layers[@]}" 9>&- || python_ok=1
wait "$liboqs" && [ "$python_ok" = 0 ] || exit 1
"$ROOT/tools/build.sh" "${targets[@]}" 9>&-
