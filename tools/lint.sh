#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Style and static checks over everything that is committed or about to be. Runs all of them before it fails.
#   lint.sh          check           lint.sh --fix    format, apply the safe fixes, add licence lines
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -uo pipefail
cd "$ROOT" || exit 1
PATH="$VENV/bin:$PATH"
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1

require_git
mapfile -t python < <(git ls-files -co --exclude-standard -- '*.py' '*.pyi')
mapfile -t cpp < <(git ls-files -co --exclude-standard -- '*.cpp' '*.hpp' '*.c' '*.h')
mapfile -t shell < <(git ls-files -co --exclude-standard -- '*.sh' tools/run .ci/run)
existing() { for file in "$@"; do [ -f "$file" ] && printf '%s\n' "$file"; done; }
mapfile -t python < <(existing "${python[@]}")
mapfile -t cpp < <(existing "${cpp[@]}")

if [ "${1:-}" = --fix ]; then
  ruff check --quiet --fix "${python[@]}"
  ruff format --quiet "${python[@]}"
  [ ${#cpp[@]} -eq 0 ] || clang-format -i "${cpp[@]}"
  tools/spdx.py --fix
  exit 0
fi

failed=()
check() {
  local name="$1"
  shift
  if "$@"; then say "$name: ok"; else failed+=("$name"); fi
}
formatted_cpp() {
  local file differ=()
  clang-format --dry-run -Werror "$@" 2>/dev/null && return
  for file in "$@"; do
    clang-format --dry-run -Werror "$file" 2>/dev/null || differ+=("$file")
  done
  [ ${#differ[@]} -eq 0 ] || { printf 'not formatted: %s\n' "${differ[@]}"; return 1; }
}
check "ruff check" ruff check "${python[@]}"
check "ruff format" ruff format --check --quiet "${python[@]}"
for package in src/*/; do
  name="$(basename "$package")"
  # One run per package: each is a separate root.
  if [ -f "$package$name/__init__.py" ]; then check "mypy $name" tools/run mypy --no-error-summary "$package$name"; fi
done
check "mypy tools" tools/run mypy --no-error-summary tools/*.py
check "clang-format" formatted_cpp "${cpp[@]}"
check "licence lines" tools/spdx.py --check
for file in "${shell[@]}"; do bash -n "$file" || failed+=("bash -n $file"); done
if have shellcheck; then
  check shellcheck shellcheck -S warning -x -P tools "${shell[@]}"
else
  say "shellcheck: skipped (not installed; apt-get install shellcheck)"
fi

# Long files are allowed, but think twice.
for file in "${python[@]}" "${cpp[@]}"; do
  lines="$(wc -l <"$file")"
  [ "$lines" -le 500 ] || warn "$file has $lines lines: consider one concept per file"
done

[ ${#failed[@]} -eq 0 ] || die "lint failed: $(IFS=,; echo "${failed[*]}") (run 'make format', which fixes most of this)"
