#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes requirements/locked/*.txt: for each layer of .venv every package it consists of, with its exact version and the
# hashes of its files, for CPython 3.11 to 3.14 on Linux, x86_64 and aarch64. pip installs nothing else
# (--require-hashes). setup_python.sh knows which lists belong together: wheels.txt does not repeat system.txt, nor
# lint.txt test.txt.
# Run it after a list in requirements/ has changed. It needs uv (pip install uv) and asks the package index.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT/requirements"

have uv || die "uv is missing: install it with 'pip install uv' into an environment of its own"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
packaging="$(grep '^packaging==' constraints.txt)"

# lock NAME WITHOUT OPTION... LIST...: the lists, and what they pull in, as constraints.txt pins it, without the
# packages of the locked list WITHOUT (may be empty).
lock() {
  local name="$1" without="$2" options=()
  shift 2
  if [ -n "$without" ]; then options=(--without "locked/$without.txt"); fi
  uv pip compile --quiet --universal --python-version 3.11 --format pylock.toml --output-file "$work/pylock.$name.toml" \
    --constraint constraints.txt "$@"
  printf '# Written by tools/lock_requirements.sh.\n' >"$work/$name.txt"
  uv run --quiet --no-project --with "$packaging" python "$ROOT/tools/lock_hashes.py" "$work/pylock.$name.toml" \
    "${options[@]}" >>"$work/$name.txt"
  mv "$work/$name.txt" "locked/$name.txt"
}

mkdir -p locked
lock system "" base.txt
# The other layers go on top of that one: what they share has the same version.
lock wheels system --constraint locked/system.txt base.txt ros-jazzy.txt
shared=(--constraint locked/system.txt --constraint locked/wheels.txt)
lock analysis "" "${shared[@]}" analysis.txt
lock dashboard "" "${shared[@]}" dashboard.txt
lock test "" "${shared[@]}" test.txt
lock lint test "${shared[@]}" --constraint locked/test.txt lint.txt test.txt
lock detect "" "${shared[@]}" detect.txt
lock train detect "${shared[@]}" --constraint locked/detect.txt train.txt detect.txt
lock test-nodeps "" --no-deps test-nodeps.txt
