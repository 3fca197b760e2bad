#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the packages of build-deb once more, from the same sources in another folder and with nothing that was compiled
# before, by a user with other habits: every byte has to be the same. The Python packages of the build come from this
# folder's .venv, which is pinned by hashes.
#   deb_again.sh ARCHITECTURE...    after deb.sh with the same ones
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

[ $# -gt 0 ] || die "usage: deb_again.sh ARCHITECTURE..."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# A longer path, with a blank in it.
again="$work/a folder with another and longer name/of the same sources"
mkdir -p "$again/.deps"
# What git knows, as it is here: a change that is not committed yet is in both. Of a release's archive all but what is made.
sources() {
  if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard --deduplicate |
      while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done
  else
    find . \( -path ./.venv -o -path ./.deps -o -path './build*' -o -path ./install -o -path ./log \) -prune -o \
      ! -type d -print0
  fi
}
sources | tar --create --null --no-recursion --files-from=- | tar --extract --directory "$again"
ln -s "$VENV" "$again/.venv"
mkdir -p "$DEPS/log"
log="$DEPS/log/deb-again.log"
(umask 077 && env -u SIGN_KEY -u CMAKE_CXX_COMPILER_LAUNCHER -u CMAKE_C_COMPILER_LAUNCHER CCACHE_DISABLE=1 \
  SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" TZ=Pacific/Chatham LC_ALL=C LANG=C \
  "$again/tools/deb.sh" --no-test "$@") >"$log" 2>&1 ||
  die "the second build failed: $(tail -n 1 "$log" | sed "s/^error: //") (whole output: ${log#"$ROOT"/})"
different=()
count=0
for package in "$again"/build-deb/*.deb; do
  name="$(basename "$package")"
  count=$((count + 1))
  cmp "$package" "build-deb/$name" || different+=("$name")
done
if [ ${#different[@]} -gt 0 ]; then
  rm -rf build-deb/again
  mkdir build-deb/again
  cp "$again"/build-deb/*.deb build-deb/again/
  die "not the same bytes: ${different[*]} (the others are in build-deb/again)"
fi
[ "$count" -ge 3 ] || die "the second build made $count packages"
say "$count packages have the same bytes when they are made in '$again'"
