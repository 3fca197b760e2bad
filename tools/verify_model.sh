#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the models of the protocol with ProVerif (*.pv) and Spin (*.pml). Fails when an outcome is not the expected one,
# and if one of the two is missing, unless ALLOW_MISSING=1 says that this is meant.
#   verify_model.sh [FOLDER]     the models of a folder; without it those that docs/model makes, and the page of results
#   PROVERIF_SOURCE=FOLDER       the unpacked sources of ProVerif, to build it once into .deps with Debian's OCaml
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

readonly PROVERIF_VERSION=2.05
# Of the sources as they are concatenated below.
readonly PROVERIF_SHA256=625c16c85a79138e1355742279c71ff0235b72bb1df2fe283184b5f9925b507d
readonly PAGE=bench/results/model.md

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
  complete=
}

# ask_TOOL MODEL LOG: prints a digit per query: 0 it holds, 1 an attack was found, ? undecided.
ask_proverif() {
  "$proverif" "$1" >"$2" || return 1
  sed -n '/^Verification summary/,$p' "$2" |
    sed -nE 's/^( - )?Query .* is true\.$/0/; s/^( - )?Query .* is false\.$/1/; s/^( - )?Query .* cannot be proved\.$/?/
             /^[01?]$/H; $ { x; s/\n//g; p }'
}
ask_spin() {
  local work claim
  work="$(mktemp -d)"
  : >"$2"
  cp "$1" "$work/model.pml"
  for claim in $(sed -nE 's/^ *claim\(([0-9]+),.*/\1/p' "$1"); do
    (cd "$work" && spin "-DCLAIM=$claim" -a model.pml && gcc -O2 -w -DSAFETY -o pan pan.c && ./pan -m1000000) \
      >"$work/out" 2>&1 || return 1
    cat "$work/out" >>"$2"
    # A search that was cut off has proved nothing.
    if grep -q 'errors: [1-9]' "$work/out"; then
      printf 1
    elif grep -qE 'max search depth too small|out of memory|Search not completed' "$work/out"; then
      printf '?'
    else
      printf 0
    fi
  done
  echo
  rm -rf "$work"
}
export -f ask_proverif ask_spin

complete=1
folder="${1:-build/model}"
[ $# -gt 0 ] || "$("$ROOT/tools/find_python.sh")" "$ROOT/tools/model_variants.py" "$folder"
mkdir -p "$DEPS/log"
models=()
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
if compgen -G "$folder/*.pml" >/dev/null; then
  [ "${ALLOW_MISSING:-}" = 1 ] || need spin spin=spin gcc=gcc
  if have spin && have gcc; then models+=("$folder"/*.pml); else missing Spin "apt-get install spin gcc"; fi
fi
compgen -G "$folder/*.p[vm]*" >/dev/null || die "no model in $folder"

failed=()
results="$(mktemp)"
outcome="$(mktemp)"
trap 'rm -f "$results" "$outcome"' EXIT
TIMEFORMAT=%U
for model in "${models[@]}"; do
  log="$DEPS/log/$(basename "$model").log"
  case "$model" in *.pv) ask=ask_proverif ;; *) ask=ask_spin ;; esac
  expected="$(sed -nE 's/^(\(\*|\/\*) expect: *([^ ]*).*/\2/p' "$model" | head -n 1)"
  if ! seconds="$( { time timeout "${VERIFY_SECONDS:-1800}" bash -o pipefail -c "$ask \"\$@\"" ask "$model" "$log" \
    >"$outcome" 2>/dev/null; } 2>&1)"; then
    failed+=("$model (could not be analysed: $log)")
    continue
  fi
  code="$(cat "$outcome")"
  printf '%s\t%s\t%.1f\n' "$(basename "$model")" "$code" "$seconds" >>"$results"
  if [[ "$code" =~ ^[01?]+$ ]] && [ "$code" = "$expected" ]; then
    say "$model: $code as expected ($seconds s)"
  else
    failed+=("$model (expected $expected, found $code)")
  fi
done
[ ${#failed[@]} -eq 0 ] || die "not verified: $(IFS=,; echo "${failed[*]}")"

# Only a whole run is a page of results.
[ $# -eq 0 ] && [ -n "$complete" ] || exit 0
mv "$results" "$folder/results.tsv"
{
  cat <<'TEXT'
# What the models say

Written by `make verify-model`: [docs/model](../../docs/model/README.md) says what is modelled and what is not. ProVerif's
proofs are for any number of sessions, Spin's for every schedule within the bounds of its model. What is *attacked* in a
situation was found so by the tool, and expected; everything else that a table asks for is proven. Models that spoil
another one leave something out (situations.txt): they have to do worse, or the proof of the other would show nothing.

TEXT
  "$("$ROOT/tools/find_python.sh")" "$ROOT/tools/model_variants.py" "$folder" --page
} >"$PAGE.new"
mv "$PAGE.new" "$PAGE"
say "$PAGE"
