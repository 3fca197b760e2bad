#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the engine's C++ tests and its fuzzers reach: builds both with gcc's counters, runs the tests, plays the fuzzers'
# corpora, prints which functions nothing reaches, and writes bench/results/coverage.md.
#   coverage.sh [REGEX]   only the tests that match, e.g. coverage.sh '^(Session|PathValidator)'
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

build="build-coverage"
logged "configure-$build" "" tools/run cmake -S src/pqc_mav_tunnel -B "$build" -DCMAKE_BUILD_TYPE=Debug \
  -DPQCMAV_COVERAGE=ON -DPQCMAV_PYTHON=OFF -DPQCMAV_MICRO_BENCHMARKS=OFF -DBUILD_TESTING=ON -DCMAKE_UNITY_BUILD=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
say "building the engine's tests and fuzzers with counters"
tools/run cmake --build "$build" --parallel "$(nproc)" --target engine_tests replays -- --quiet || die "the build failed"
find "$build" -name '*.gcda' -delete
tools/run ctest --test-dir "$build" -j "$(nproc)" --label-exclude 'pytest|linter' ${1:+-R "$1"} --no-tests=error \
  >"$DEPS/log/coverage-tests.log" 2>&1 || say "some tests failed: see .deps/log/coverage-tests.log; what they reached counts"
for replay in "$build"/replay_*; do
  if [ ! -x "$replay" ]; then continue; fi
  name="fuzz_${replay##*/replay_}"
  folders=()
  for folder in "$DEPS/fuzz/$name" "src/pqc_mav_tunnel/fuzz/corpus/$name"; do
    if [ -d "$folder" ]; then folders+=("$folder"); fi
  done
  tools/run "$replay" "${folders[@]}" || die "$name fails on its corpus"
done
tools/run python tools/coverage_page.py "$build" "${1:-}"
