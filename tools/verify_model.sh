#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the symbolic models of the protocol with Verifpal (*.vp) and ProVerif (*.pv). Fails when an outcome is not the
# expected one, and where one of the two is missing, unless ALLOW_MISSING=1 says that this is meant.
#   verify_model.sh [FOLDER]     the models of a folder; without it those that docs/model/*.in make
#   PROVERIF_SOURCE=FOLDER       the unpacked sources of ProVerif, to build it once into .deps with Debian's OCaml
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

readonly PROVERIF_VERSION=2.05
# Of the sources as they are concatenated below.
readonly PROVERIF_SHA256=625c16c85a79138e1355742279c71ff0235b72bb1df2fe283184b5f9925b507d

build_proverif() {
  local source="$1" work="$DEPS/proverif.work" found
  [ -f "$source/build" ] || die "PROVERIF_SOURCE=$source: there is no ProVerif, whose folder has a file 'build'"
  found="$(cd "$source/src" && LC_ALL=C && cat -- *.[cm]* | sha256sum | cut -d ' ' -f 1)"
  [ "$found" = "$PROVERIF_SHA256" ] || die "PROVERIF_SOURCE=$source is not the ProVerif $PROVERIF_VERSION that the models were checked with (SHA-256 $found)"
  need proverif ocamlopt=ocaml-nox
  rm -rf "$work"
  mkdir -p "$work" "$DEPS/proverif"
  cp -a "$source/build" "$source/src" "$work"
  say "building ProVerif $PROVERIF_VERSION (once)"
  (cd "$work" && logged proverif "" sh ./build -nointeract)
  mv "$work/proverif" "$DEPS/proverif/proverif"
  rm -rf "$work"
}

# missing NAME HOW: fails, or says what is left out.
missing() {
  [ "${ALLOW_MISSING:-}" = 1 ] || die "verify-model: $1 is missing ($2); ALLOW_MISSING=1 leaves out what it checks"
  say "verify-model: left out what $1 checks, which is missing ($2)"
}

# Print the outcome of each query of a model: as Verifpal's own code, or a digit each. 1 is an attack, 0 that it holds.
ask_verifpal() { verifpal verify --result-code "$1" | tee "$2" | tail -n 1; }
ask_proverif() {
  "$proverif" "$1" >"$2" || return 1
  sed -n '/^Verification summary/,$p' "$2" |
    sed -nE 's/^Query .* is true\.$/0/; s/^Query .* is false\.$/1/; s/^Query .* cannot be proved\.$/?/; /^[01?]$/H
             $ { x; s/\n//g; p }'
}
export -f ask_verifpal ask_proverif

folder="${1:-build/model}"
[ $# -gt 0 ] || "$("$ROOT/tools/find_python.sh")" "$ROOT/tools/model_variants.py" "$folder"
mkdir -p "$DEPS/log"
models=()
if compgen -G "$folder/*.vp" >/dev/null; then
  if have verifpal; then
    models+=("$folder"/*.vp)
  else
    missing Verifpal "cargo install --ignore-rust-version verifpal"
  fi
fi
if compgen -G "$folder/*.pv" >/dev/null; then
  proverif="$(command -v proverif || true)"
  if [ -z "$proverif" ]; then
    proverif="$DEPS/proverif/proverif"
    [ -x "$proverif" ] || [ -z "${PROVERIF_SOURCE:-}" ] || build_proverif "$PROVERIF_SOURCE"
  fi
  export proverif
  if [ -x "$proverif" ]; then
    models+=("$folder"/*.pv)
  else
    missing ProVerif "PROVERIF_SOURCE=FOLDER names the sources of version $PROVERIF_VERSION"
  fi
fi
compgen -G "$folder/*.[vp][pv]" >/dev/null || die "no model in $folder"

# A model whose point is an attack (what a stolen secret would allow) states the outcome it expects in a comment.
failed=()
for model in "${models[@]}"; do
  log="$DEPS/log/$(basename "$model").log"
  case "$model" in *.vp) ask=ask_verifpal ;; *) ask=ask_proverif ;; esac
  expected="$(sed -nE 's/^(\/\/|\(\*) expect: *([^ ]*).*/\2/p' "$model" | head -n 1)"
  if ! code="$(timeout "${VERIFY_SECONDS:-1800}" bash -o pipefail -c "$ask \"\$@\"" ask "$model" "$log" 2>&1)"; then
    tail -n 5 "$log"
    failed+=("$model (could not be analysed)")
    continue
  fi
  [ -n "$expected" ] || expected="${code//1/0}"
  if [[ "$code" =~ ^([a-z]?[01])+$ ]] && [ "$code" = "$expected" ]; then
    say "$model: $code as expected"
  else
    grep -E 'FAIL|PASS|attack|^Query' "$log" | tail -n 30 || true
    failed+=("$model (expected $expected, found $code)")
  fi
done
[ ${#failed[@]} -eq 0 ] || die "not verified: $(IFS=,; echo "${failed[*]}")"
