#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts liboqs at .deps/liboqs: an installed one that has all we need, else one built here, once per version and set of
# options.
#   setup_liboqs.sh [demo]            demo: unless the whole library is there, one with the algorithms of a first demo
#   setup_liboqs.sh --ready [demo]    only tells (exit code) whether nothing is left to do that needs the network
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

builder="$ROOT/src/liboqs_vendor/scripts/build_liboqs.sh"
ready_only='' demo=''
for word in "$@"; do
  case "$word" in
    --ready) ready_only=1 ;;
    demo) demo=1 ;;
    *) die "setup_liboqs.sh: unknown argument $word" ;;
  esac
done
options=() what="liboqs (once; about two minutes on two cores)"
built="$DEPS/liboqs-$("$builder" --key)"
if [ -n "$demo" ] && [ ! -f "$built/.complete" ]; then
  options=(--demo) what="liboqs with the algorithms of a first demo ('make setup' adds the others)"
  built="$DEPS/liboqs-$("$builder" --key --demo)"
fi

# Prints the prefix of an installed liboqs >= 0.13 with HQC and with the function liboqs-python asks for.
installed() {
  local prefix lib
  [ -z "${PQCMAV_BUILD_LIBOQS:-}" ] && pkg-config --atleast-version=0.13 liboqs 2>/dev/null || return 1
  prefix="$(pkg-config --variable=prefix liboqs)"
  grep -qE '^#define OQS_ENABLE_KEM_HQC' "$(pkg-config --variable=includedir liboqs)/oqs/oqsconfig.h" 2>/dev/null || return 1
  lib="$(pkg-config --variable=libdir liboqs)/liboqs.so"
  nm -D --defined-only "$lib" 2>/dev/null | grep -q ' OQS_SIG_supports_ctx_str$' || return 1
  echo "$prefix"
}

if prefix="$(installed)"; then target="$prefix"; else target="$built"; fi
ready() { [ "$target" != "$built" ] || [ -f "$built/.complete" ]; }

if [ -n "$ready_only" ]; then
  ready
  exit
fi
if ! ready; then
  require_network "the sources of liboqs"
  say "building $what"
  logged liboqs "" "$builder" "${options[@]}" --prefix "$built" --work "$DEPS/liboqs.work"
fi
if [ "$(readlink "$LIBOQS_PREFIX" 2>/dev/null || true)" != "$target" ]; then
  mkdir -p "$DEPS"
  ln -sfn "$target" "$LIBOQS_PREFIX"
fi
