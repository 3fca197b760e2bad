#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python tests with the package versions of Ubuntu 24.04 (tools/ubuntu-24.04.txt), laid over .venv.
#   test_ubuntu.sh [PACKAGE...]
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

[ $# -gt 0 ] || set -- pqc_mav_common pqc_mav_bringup pqc_mav_proxy pqc_mav_sensing pqc_mav_policy pqc_mav_recorder \
  pqc_mav_detect pqc_mav_bench pqc_mav_cli
versions=tools/ubuntu-24.04.txt
overlay=build/ubuntu-24.04
stamp="$(hash_of <"$versions")"
if [ "$(cat "$overlay/.stamp" 2>/dev/null || true)" != "$stamp" ]; then
  say "installing the versions of Ubuntu 24.04 into $overlay"
  rm -rf "$overlay"
  logged pip-ubuntu "" tools/run python -m pip install --quiet --no-deps --only-binary :all: --target "$overlay" -r "$versions"
  printf '%s\n' "$stamp" >"$overlay/.stamp"
fi
. tools/env.sh
PYTHONPATH="$ROOT/$overlay:$PYTHONPATH" python tools/run_tests.py "$@"
