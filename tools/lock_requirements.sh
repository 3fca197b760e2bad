#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes requirements/locked/*.txt: for each layer of .venv every package it consists of, with its exact version and the
# hashes of all its files, for CPython 3.11 and newer on any machine. pip installs nothing else (--require-hashes).
# Run it after a list in requirements/ has changed. It needs uv (pip install uv) and asks the package index.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT/requirements"

have uv || die "uv is missing: install it with 'pip install uv' into an environment of its own"

# lock NAME [OPTION] LIST...: the lists, and what they pull in, as constraints.txt pins it.
lock() {
  local name="$1"
  shift
  printf '# Written by tools/lock_requirements.sh.\n' >"locked/$name.txt.new"
  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
    --constraint constraints.txt "$@" >>"locked/$name.txt.new"
  mv "locked/$name.txt.new" "locked/$name.txt"
}

mkdir -p locked
lock wheels base.txt ros-jazzy.txt
# The other layers go on top of that one: what they share has the same version.
for layer in system:base analysis:analysis test:test "lint:lint test"; do
  read -ra lists <<<"${layer#*:}"
  lock "${layer%%:*}" --constraint locked/wheels.txt "${lists[@]/%/.txt}"
done
lock test-nodeps --no-deps test-nodeps.txt
