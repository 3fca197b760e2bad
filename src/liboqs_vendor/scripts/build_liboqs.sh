#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds liboqs once into --prefix, from the source inside the pinned registry crate. Defines the version, the checksum
# and the build options; the workspace's set-up and this package's CMakeLists.txt both call it.
#
#   build_liboqs.sh --prefix DIR [--work DIR] [--jobs N] [--toolchain FILE] [--demo]
#   build_liboqs.sh --cache     prints the same options as an initial cache for CMake, and --commit the source's commit
#   build_liboqs.sh --key [--toolchain FILE] [--demo]   prints a hash that changes with anything that changes the result
#
# A CMake toolchain file makes it a library for another machine. --demo: algorithms_demo.txt only, compiled in haste.
# LIBOQS_CRATE=/path/to/oqs-sys-....crate uses a file at hand instead of the network, LIBOQS_SOURCE=/path/to/liboqs any
# source tree, such as that of version 0.16.
set -euo pipefail

readonly CRATE=oqs-sys CRATE_VERSION=0.11.0 LIBOQS_VERSION=0.13.0
# The commit of liboqs in that crate: the submodule at the commit of liboqs-rust that its .cargo_vcs_info.json names
# (a67875eee773). For the list of what a build contains (tools/sbom.py).
# shellcheck disable=SC2034
readonly LIBOQS_COMMIT=21b3f8b0fadbb19e2c6a5df0f165c953ead164e1
readonly CRATE_SHA256=ac6d66ee528a895ce5cc08851698d109c5d7ee5d7a0b3b40d61550eda91e414f
readonly CRATE_FILE="$CRATE-$CRATE_VERSION+liboqs-$LIBOQS_VERSION.crate"
readonly OPTIONS=(
  -DCMAKE_BUILD_TYPE=Release
  -DBUILD_SHARED_LIBS=ON
  -DOQS_BUILD_ONLY_LIB=ON
  -DOQS_DIST_BUILD=ON      # picks the fastest code for the processor at run time
  -DOQS_ENABLE_KEM_HQC=ON  # off by default in this version
  -DCMAKE_SKIP_RPATH=ON    # of the folder that it was built in, the installation would leave the room
)
# As the engine's cmake/hardening.cmake; what this compiler does not know is left out.
readonly HARDENING=(
  -fstack-protector-strong
  -fcf-protection
  "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3|-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"  # the first of these
)
readonly LINKING="-Wl,-z,relro,-z,now"
# Built in whatever folder, it has the same bytes (GCC >= 8, clang >= 10). A compiler cache may have made paths relative.
readonly NO_PATHS="\"-ffile-prefix-map=@=.\" -ffile-prefix-map=..=."

here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Set by --demo: optimised less, which takes half the time.
list=algorithms.txt demo=()

algorithms() { cat "$here/$list" ${LIBOQS_SOURCE:+"$here/algorithms_later.txt"} | grep -v '^#' | paste -sd ';'; }

# The crate's checksum; of a tree that was given, a hash of what is in it.
source_id() {
  [ -n "${LIBOQS_SOURCE:-}" ] || { echo "$CRATE_SHA256"; return; }
  (cd "$LIBOQS_SOURCE" && find . -name .git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) | sha256sum
}

# key TOOLCHAIN: a toolchain file says for which machine, in place of the one that builds.
key() {
  {
    printf '%s\n' "$(source_id)" "${OPTIONS[@]}" "${HARDENING[@]}" "$LINKING" "$NO_PATHS" "${demo[@]}"
    if [ -n "$1" ]; then cat "$1"; else uname -m; fi
    algorithms
    cat "$here"/compat/*
  } | sha256sum | cut -c1-12
}

# compiler TOOLCHAIN WORK: prints the C compiler that the toolchain file names; without a file it is cc.
compiler() {
  local named=''
  if [ -n "$1" ]; then
    printf 'include("%s")\nmessage("${CMAKE_C_COMPILER}")\n' "$1" >"$2/compiler.cmake"
    named="$(cmake -P "$2/compiler.cmake" 2>&1 | tail -n 1)"  # message() goes to standard error
  fi
  echo "${named:-cc}"
}

checksum_ok() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$CRATE_SHA256" ]; }

# Prints the path of the verified crate file, fetching it when it is not in cargo's cache.
find_crate() {
  local file work="$1"
  if [ -n "${LIBOQS_CRATE:-}" ]; then
    checksum_ok "$LIBOQS_CRATE" || die "LIBOQS_CRATE=$LIBOQS_CRATE is missing or is not $CRATE_FILE (SHA-256 differs)"
    echo "$LIBOQS_CRATE"
    return
  fi
  for attempt in cached fetched; do
    for file in "${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$CRATE_FILE"; do
      if checksum_ok "$file"; then
        echo "$file"
        return
      fi
    done
    [ "$attempt" = cached ] && fetch_crate "$work"
  done
  die "cargo left no $CRATE_FILE with the pinned SHA-256: remove cargo's registry cache and try again"
}

fetch_crate() {
  command -v cargo >/dev/null || die "cargo is missing (it brings the liboqs source): install Rust's cargo >= 1.75" \
    "(Debian 12: apt-get install cargo-web, Ubuntu: apt-get install cargo), or an own liboqs >= $LIBOQS_VERSION with HQC"
  mkdir -p "$1/fetch"
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2018"\n[lib]\npath = "lib.rs"\n[dependencies]\n%s\n' \
    "$CRATE = { version = \"=$CRATE_VERSION\", default-features = false }" >"$1/fetch/Cargo.toml"
  : >"$1/fetch/lib.rs"
  # Its exit code says nothing about our one crate: the others it resolves are not needed. The checksum decides.
  (cd "$1/fetch" && cargo fetch --quiet) >"$1/fetch/log" 2>&1 && return
  for file in "${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$CRATE_FILE"; do
    checksum_ok "$file" && return
  done
  die "cargo cannot fetch the liboqs source ($CRATE_FILE): no network, or a cargo older than 1.75 ($(cargo --version));" \
    "cargo said: $(grep -m1 -i error "$1/fetch/log" || head -n1 "$1/fetch/log")"
}

# hardening COMPILER: prints those of HARDENING that it and its C library take.
hardening() {
  local choices choice
  for choices in "${HARDENING[@]}"; do
    while [ -n "$choices" ]; do
      choice="${choices%%|*}"
      choices="${choices#"$choice"}"
      choices="${choices#|}"
      # shellcheck disable=SC2086  # several words on purpose
      if printf '#include <string.h>\nint f(void) { return 0; }\n' |
        "$1" -O2 -Werror $choice -x c -c -o /dev/null - 2>/dev/null; then
        printf '%s ' "$choice"
        break
      fi
    done
  done
}

# cache: the options of `build` for a build that somebody else starts, by ament_vendor.
cache() {
  local option name
  for option in "${OPTIONS[@]}" -DCMAKE_INSTALL_LIBDIR=lib "-DCMAKE_C_FLAGS=$(hardening cc)" \
    "-DCMAKE_SHARED_LINKER_FLAGS=$LINKING" "-DOQS_MINIMAL_BUILD=$(algorithms)" \
    "-DCMAKE_PROJECT_INCLUDE=$here/compat/inject.cmake"; do
    name="${option%%=*}"
    printf 'set(%s "%s" CACHE STRING "")\n' "${name#-D}" "${option#*=}"
  done
}

build() {
  local prefix="$1" work="$2" jobs="$3" toolchain="$4" cc crate source generator extra=()
  [ -f "$prefix/.complete" ] && [ "$(cat "$prefix/.complete")" = "$(key "$toolchain")" ] && return
  mkdir -p "$work"
  cc="$(compiler "$toolchain" "$work")"
  for tool in cmake "$cc" tar sha256sum; do
    command -v "$tool" >/dev/null || die "$tool is missing: install a C compiler, cmake and ninja" \
      "(Debian, Ubuntu: apt-get install g++ cmake ninja-build libssl-dev)"
  done
  if [ -z "${LIBOQS_SOURCE:-}" ]; then crate="$(find_crate "$work")"; fi
  rm -rf "$work/source" "$work/build" "$prefix"
  mkdir -p "$work/source"
  source="$work/source/liboqs"
  if [ -n "${LIBOQS_SOURCE:-}" ]; then
    cp -r "$LIBOQS_SOURCE" "$source"
  else
    tar -xzf "$crate" -C "$work/source" --strip-components=1
  fi
  if ! grep -q OQS_SIG_supports_ctx_str "$source/src/sig/sig.h"; then
    extra+=("-DCMAKE_PROJECT_INCLUDE=$here/compat/inject.cmake")
  fi
  if [ -n "$toolchain" ]; then extra+=("-DCMAKE_TOOLCHAIN_FILE=$toolchain"); fi
  generator="Unix Makefiles"
  if command -v ninja >/dev/null; then generator=Ninja; fi
  # CMAKE_PREFIX_PATH of a caller could bring in another liboqs or OpenSSL by accident.
  env -u CMAKE_PREFIX_PATH cmake -G "$generator" -S "$source" -B "$work/build" -Wno-dev \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib "${OPTIONS[@]}" "${demo[@]}" \
    -DCMAKE_C_FLAGS="$(hardening "$cc")${NO_PATHS/@/"$work"}" -DCMAKE_SHARED_LINKER_FLAGS="$LINKING" \
    -DOQS_MINIMAL_BUILD="$(algorithms)" "${extra[@]}"
  cmake --build "$work/build" --parallel "$jobs"
  cmake --install "$work/build" >/dev/null
  key "$toolchain" >"$prefix/.complete"
  rm -rf "$work"
}

main() {
  local prefix='' work='' jobs toolchain='' only_key=''
  jobs="$(nproc 2>/dev/null || echo 2)"
  while [ $# -gt 0 ]; do
    case "$1" in
      --key) only_key=1; shift ;;
      --cache) cache; return ;;
      --commit) echo "$LIBOQS_COMMIT"; return ;;
      --prefix) prefix="$2"; shift 2 ;;
      --work) work="$2"; shift 2 ;;
      --jobs) jobs="$2"; shift 2 ;;
      --demo) list=algorithms_demo.txt; demo=("-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG"); shift ;;
      --toolchain) toolchain="$(readlink -m "$2")"; shift 2 ;;
      *) die "unknown argument $1" ;;
    esac
  done
  [ -z "$toolchain" ] || [ -f "$toolchain" ] || die "there is no toolchain file $toolchain"
  [ -z "${LIBOQS_SOURCE:-}" ] || [ -f "$LIBOQS_SOURCE/src/oqs.h" ] ||
    die "LIBOQS_SOURCE=$LIBOQS_SOURCE is no source tree of liboqs: it has no src/oqs.h"
  if [ -n "$only_key" ]; then
    key "$toolchain"
    return
  fi
  [ -n "$prefix" ] || die "--prefix DIR is needed"
  build "$prefix" "$(readlink -m "${work:-$prefix.work}")" "$jobs" "$toolchain"
}

main "$@"
