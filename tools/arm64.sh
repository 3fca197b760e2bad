#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cross-compiles the engine and pqcmav-tunneld for 64-bit ARM in build-arm64, runs the engine's tests under qemu, and
# flies an x86-64 gcs with an arm64 drone and the other way round. Prints at the end what was emulated and for how long.
#   arm64.sh                   after setup.sh, which makes the x86-64 end and the Python module that writes the keys
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

build="build-arm64"
toolchain="$ROOT/tools/cmake/arm64.cmake"
# The processor of a Raspberry Pi 5.
emulator=(qemu-aarch64-static -cpu cortex-a76 -L "$DEPS/arm64/sysroot")
left_out="$ROOT/tools/arm64_left_out.txt"

build_liboqs() {
  local builder="$ROOT/src/liboqs_vendor/scripts/build_liboqs.sh"
  liboqs="$DEPS/liboqs-arm64-$("$builder" --key --toolchain "$toolchain")"
  logged liboqs-arm64 "" "$builder" --toolchain "$toolchain" --prefix "$liboqs" --work "$DEPS/liboqs-arm64.work"
}

build_engine() {
  logged "configure-$build" "" cmake -G Ninja -S src/pqc_mav_tunnel -B "$build" -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
    -DCMAKE_CROSSCOMPILING_EMULATOR="$(IFS=';'; echo "${emulator[*]}")" -Dliboqs_DIR="$liboqs/lib/cmake/liboqs" \
    -DPQCMAV_WERROR=ON -DPQCMAV_PYTHON=OFF -DPQCMAV_MICRO_BENCHMARKS=OFF -DBUILD_TESTING=ON
  cmake --build "$build" --parallel "$(nproc)" -- --quiet
}

# Prints what is left out as one regular expression.
excluded() { sed -n 's/^\([^# ][^ ]*\) .*/\1/p' "$left_out" | paste -sd '|'; }

# emulated TESTS [BUT]: runs the tests that match a regular expression under qemu, but not those that match another.
emulated() {
  local log="$DEPS/log/$build-tests.log" but
  but="$(excluded)"
  ctest --test-dir "$build" --output-on-failure -j "$(nproc)" --no-tests=error --tests-regex "$1" \
    --exclude-regex "${but:-^\$}${2:+|$2}" >"$log" 2>&1 || { tail -n 60 "$log"; return 1; }
  grep -E '% tests passed' "$log"
}

# OpenSSL then does as on a processor that has NEON and no more.
emulated_without_aes() { OPENSSL_armcap=1 emulated "$@"; }

# Prints the command that runs pqcmav-tunneld of a machine.
tunneld() {
  case "$1" in
    arm64) echo "${emulator[*]} $ROOT/$build/pqcmav-tunneld" ;;
    x86-64) echo "$ROOT/install/bin/pqcmav-tunneld" ;;
  esac
}

# pair GCS DRONE: the machine of each.
pair() { tools/run python tools/arm64_pair.py --gcs "$(tunneld "$1")" --drone "$(tunneld "$2")"; }

[ "$(uname -m)" = x86_64 ] || die "make arm64 cross-compiles on x86-64; on this machine ($(uname -m)) use 'make test'"
mkdir -p "$DEPS/log"
step "cross compiler and qemu" \
  need arm64 "aarch64-linux-gnu-g++=crossbuild-essential-arm64" "qemu-aarch64-static=qemu-user-static"
step "arm64's OpenSSL, yaml-cpp and GoogleTest" tools/arm64_sysroot.sh
step "liboqs for arm64" build_liboqs
step "engine, pqcmav-tunneld and tests for arm64" build_engine
step "emulated: all test vectors" emulated '^vectors'
step "emulated: all test vectors without AES instructions, as on a Raspberry Pi 4" emulated_without_aes '^vectors'
step "emulated: a handshake of each of the 72 core suites" emulated '^core_suites:'
step "emulated: the engine's other tests" emulated . '^vectors|^core_suites:'
step "an x86-64 gcs and an emulated arm64 drone" pair x86-64 arm64
step "an emulated arm64 gcs and an x86-64 drone" pair arm64 x86-64

say "emulated by $(qemu-aarch64-static --version | head -n 1), a processor as in a Raspberry Pi 5, no board"
sed -n 's/^[^#]/left out: &/p' "$left_out"
printf '%s\n' "${steps[@]}"
