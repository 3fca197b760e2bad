#!/usr/bin/env bash
# Checks the symbolic models of the handshake (docs/model/*.vp) with Verifpal. Fails when a query does not hold.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

if ! have verifpal; then
  say "verify-model: skipped, verifpal is not on PATH (cargo install --ignore-rust-version verifpal)"
  exit 0
fi
models=(docs/model/*.vp)
[ -f "${models[0]}" ] || die "no model in docs/model"
failed=()
for model in "${models[@]}"; do
  say "$model"
  log="$DEPS/log/$(basename "$model").log"
  mkdir -p "$DEPS/log"
  if ! timeout "${VERIFY_SECONDS:-1800}" verifpal verify "$model" >"$log" 2>&1; then
    failed+=("$model")
  fi
  tail -n 12 "$log"
done
[ ${#failed[@]} -eq 0 ] || die "not verified: ${failed[*]}"
