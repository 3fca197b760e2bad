#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cross-compiles the engine and pqcmav-tunneld for another architecture in build-ARCHITECTURE, runs the engine's tests
# under qemu, and flies an x86-64 gcs with a drone of that architecture and the other way round. Prints at the end what
# was emulated and for how long.
#   cross.sh arm64|armhf|riscv64    after setup.sh, which makes the x86-64 end and the module that writes the keys
#   cross.sh arm64 --machine        boots a whole emulated machine instead, for what user emulation cannot do; needs root
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

arch="${1:-}"
cross_target "$arch"
build="build-$arch"
toolchain="$DEPS/$arch/toolchain.cmake"
emulator+=(-L "$DEPS/$arch/sysroot")
left_out="$ROOT/tools/cross_left_out.txt"
# Tests by the names that CTest has for them.
vectors="Vector(s|File)?\\."
core_suites="CoreSuites?\\."

build_liboqs() {
  local builder="$ROOT/src/liboqs_vendor/scripts/build_liboqs.sh"
  liboqs="$DEPS/liboqs-$arch-$("$builder" --key --toolchain "$toolchain")"
  logged "liboqs-$arch" "" "$builder" --toolchain "$toolchain" --prefix "$liboqs" --work "$DEPS/liboqs-$arch.work"
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
  PQCMAV_PATIENCE=6 ctest --test-dir "$build" --output-on-failure -j "$(nproc)" --no-tests=error --tests-regex "$1" \
    --exclude-regex "${but:-^\$}${2:+|$2}" >"$log" 2>&1 || { tail -n 60 "$log"; return 1; }
  grep -E '% tests passed' "$log"
}

# OpenSSL then does as on a processor that has NEON and no more.
emulated_without_aes() { OPENSSL_armcap=1 emulated "$@"; }

# Prints the command that runs pqcmav-tunneld of a machine.
tunneld() {
  case "$1" in
    x86-64) echo "$ROOT/install/bin/pqcmav-tunneld" ;;
    *) echo "${emulator[*]} $ROOT/$build/pqcmav-tunneld" ;;
  esac
}

# pair GCS DRONE: the machine of each.
pair() { tools/run python tools/cross_pair.py --gcs "$(tunneld "$1")" --drone "$(tunneld "$2")"; }

# A Debian with its own kernel and systemd. The packages are those of 'make deb', made here if there are none.
whole_machine() {
  local as_root
  become_root || die "a Debian is made as root: use 'sudo make cross MACHINE=1'"
  [ -n "$(compgen -G 'build-deb/pqcmav-tunneld_*_arm64.deb')" ] || tools/deb.sh --no-test arm64 || return 1
  tools/debian_base.sh arm64 && "${as_root[@]}" /usr/bin/python3 tools/machine_test.py "$DEPS/debian/arm64.tar" build-deb "$build"
}

[ "$(uname -m)" = x86_64 ] || die "make cross cross-compiles on x86-64; on this machine ($(uname -m)) use 'make test'"
mkdir -p "$DEPS/log"
step "cross compiler and qemu" \
  need "$arch" "${cross_tools[@]}"
step "$arch's OpenSSL, yaml-cpp and GoogleTest" tools/cross_sysroot.sh "$arch"
step "liboqs for $arch" build_liboqs
step "engine, pqcmav-tunneld and tests for $arch" build_engine
if [ "${2:-}" = --machine ]; then
  [ "$arch" = arm64 ] || die "a whole machine is emulated for arm64 alone"
  step "qemu-system" need machine qemu-system-aarch64=qemu-system-arm cpio mmdebstrap "${EMULATION[@]}"
  step "a whole emulated machine" whole_machine
  printf '%s\n' "${steps[@]}"
  exit 0
fi
step "emulated: all test vectors" emulated "$vectors"
if [ "$arch" = arm64 ]; then
  step "emulated: all test vectors without AES instructions, as on a Raspberry Pi 4" emulated_without_aes "$vectors"
fi
step "emulated: a handshake of each of the 72 core suites" emulated "$core_suites"
step "an x86-64 gcs and an emulated $arch drone" pair x86-64 "$arch"
step "an emulated $arch gcs and an x86-64 drone" pair "$arch" x86-64
step "emulated: the engine's other tests" emulated . "$vectors|$core_suites"

say "emulated: ${emulator[*]:0:3} of $("${emulator[0]}" --version | head -n 1), no board"
sed -n 's/^[^#]/left out: &/p' "$left_out"
printf '%s\n' "${steps[@]}"
