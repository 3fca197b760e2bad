#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes requirements/locked/*.txt: for each layer of .venv every package it consists of, with its exact version and the
# hashes of its files, for CPython 3.11 to 3.14 on Linux, x86_64 and aarch64. pip installs nothing else
# (--require-hashes). setup_python.sh knows which lists belong together: wheels.txt does not repeat system.txt, nor
# ros-*.txt wheels.txt, nor lint.txt test.txt.
# Run it after a list in requirements/ has changed. It needs uv (pip install uv) and asks the package index. What the
# lists do not name keeps the version that is locked; take it out of requirements/locked/ to have the newest.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT/requirements"

have uv || die "uv is missing: install it with 'pip install uv' into an environment of its own"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# The versions that the lists name, and for all else those that are locked. Packages of ROS 2 name each other's.
grep -hE '^[A-Za-z]' ./*.txt | grep -v '^ros-' >"$work/named.txt"
sed -n 's/^\([a-z0-9-]*\)[^ =]*\(==[^ ]*\).*/\1\2/p' locked/*.txt | grep -v '^ros-' | sort -u >"$work/locked.txt"
awk -F '[[=]' '{ name = tolower($1); gsub("_", "-", name) } NR == FNR { named[name] } NR == FNR || !(name in named)' \
  "$work/named.txt" "$work/locked.txt" >"$work/constraints.txt"
packaging="$(grep '^packaging==' "$work/constraints.txt")"

# lock NAME WITHOUT OPTION... LIST...: the lists, and what they pull in, as constraints.txt has it, without
# the packages of the locked lists WITHOUT (words; may be empty); a word that ends in "*" is the beginning of names.
lock() {
  local name="$1" without="$2" each options=()
  shift 2
  set -f
  for each in $without; do
    if [ "${each%\*}" = "$each" ]; then options+=(--without "locked/$each.txt"); else options+=(--leave-out "${each%\*}"); fi
  done
  set +f
  uv pip compile --quiet --universal --python-version 3.11 --format pylock.toml --output-file "$work/pylock.$name.toml" \
    --constraint "$work/constraints.txt" "$@"
  printf '# Written by tools/lock_requirements.sh.\n' >"$work/$name.txt"
  uv run --quiet --no-project --with "$packaging" python "$ROOT/tools/lock_hashes.py" "$work/pylock.$name.toml" \
    "${options[@]}" >>"$work/$name.txt"
  mv "$work/$name.txt" "locked/$name.txt"
}

mkdir -p locked
lock system "" base.txt
# The other layers go on top of that one: what they share has the same version.
# Of ROS 2, the packages of a distribution name each other's versions; all else is the same for each distribution.
lock wheels "system ros-*" --constraint locked/system.txt base.txt wheels.txt ros-jazzy.txt
for distribution in jazzy kilted; do
  lock "ros-$distribution" "system wheels" --constraint locked/system.txt --constraint locked/wheels.txt \
    base.txt wheels.txt "ros-$distribution.txt"
done
shared=(--constraint locked/system.txt --constraint locked/wheels.txt)
lock analysis "" "${shared[@]}" analysis.txt
lock dashboard "" "${shared[@]}" dashboard.txt
lock test "" "${shared[@]}" test.txt
lock lint test "${shared[@]}" --constraint locked/test.txt lint.txt test.txt
lock detect "" "${shared[@]}" detect.txt
lock train detect "${shared[@]}" --constraint locked/detect.txt train.txt detect.txt
lock test-nodeps "" --no-deps test-nodeps.txt
