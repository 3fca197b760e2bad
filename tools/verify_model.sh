#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the symbolic models of the protocol with Verifpal. Fails when an outcome is not the expected one, and where
# Verifpal is missing, unless ALLOW_MISSING=1 says that this is meant.
#   verify_model.sh [FOLDER]     the *.vp of a folder; without it those that docs/model/*.vp.in make
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

if ! have verifpal; then
  missing="verifpal is not on PATH (cargo install --ignore-rust-version verifpal)"
  [ "${ALLOW_MISSING:-}" = 1 ] || die "verify-model: nothing was checked, $missing; ALLOW_MISSING=1 skips it"
  say "verify-model: skipped, $missing"
  exit 0
fi
folder="${1:-build/model}"
[ $# -gt 0 ] || "$("$ROOT/tools/find_python.sh")" "$ROOT/tools/model_variants.py" "$folder"
models=("$folder"/*.vp)
[ -f "${models[0]}" ] || die "no model in $folder"
# A model whose point is an attack (what a stolen secret would allow) states the outcome it expects in a comment,
# "// expect: c0a1...", one letter and digit a query as `verifpal verify --result-code` prints them; 1 is an attack.
failed=()
mkdir -p "$DEPS/log"
for model in "${models[@]}"; do
  log="$DEPS/log/$(basename "$model").log"
  expected="$(sed -n 's|^// expect: *||p' "$model" | head -n 1)"
  if ! timeout "${VERIFY_SECONDS:-1800}" verifpal verify --result-code "$model" >"$log" 2>&1; then
    tail -n 5 "$log"
    failed+=("$model (could not be analysed)")
    continue
  fi
  code="$(tail -n 1 "$log")"
  [ -n "$expected" ] || expected="${code//1/0}"
  if [[ "$code" =~ ^([a-z][01])+$ ]] && [ "$code" = "$expected" ]; then
    say "$model: $code as expected"
  else
    grep -E 'FAIL|PASS|attack' "$log" | tail -n 30
    failed+=("$model (expected $expected, found $code)")
  fi
done
[ ${#failed[@]} -eq 0 ] || die "not verified: $(IFS=,; echo "${failed[*]}")"
