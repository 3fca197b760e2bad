#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the engine's libFuzzer targets with clang under ASan and UBSan and runs each for FUZZ_SECONDS (60).
#   fuzz.sh [NAME...]   e.g. fuzz.sh fuzz_control_frame
#   FUZZ_PAGE=FILE      also writes what was run as a page
# The corpus grows in .deps/fuzz/<target>; a finding is left in .deps/fuzz/findings and fails the run.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

# Prints the newest clang++ that knows C++20 as far as the engine needs it (14 does not), and can link a fuzzer.
fuzzing_clang() {
  local probe clang
  probe="$(mktemp -d)"
  cat >"$probe/t.cpp" <<'TEXT'
template <int N> consteval int name() { return N; }
template <int N> constexpr int row(int of = name<N>()) { return of; }
extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return row<0>(); }
TEXT
  for clang in clang++-{20..14} clang++; do
    if have "$clang" && "$clang" -std=c++20 -fsanitize=fuzzer,address,undefined "$probe/t.cpp" -o "$probe/t" 2>/dev/null; then
      rm -rf "$probe"
      echo "$clang"
      return
    fi
  done
  rm -rf "$probe"
  return 1
}

install_clang() {
  local as_root version
  have apt-cache || return 1
  become_root || return 1
  [ -n "$(apt-cache search --names-only '^clang$')" ] || logged apt-update "check the network" "${as_root[@]}" apt-get update -q
  for version in 18 17 16; do
    if [ -n "$(apt-cache search --names-only "^libclang-rt-$version-dev\$")" ]; then
      say "installing with apt: clang-$version libclang-rt-$version-dev"
      logged apt-clang "install clang and libclang-rt yourself" "${as_root[@]}" DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "clang-$version" "libclang-rt-$version-dev"
      return
    fi
  done
  return 1
}

clang="$(fuzzing_clang)" || {
  install_clang || die "fuzzing needs clang with its runtime: install clang and libclang-rt-dev (Debian 12: clang-16 libclang-rt-16-dev)"
  clang="$(fuzzing_clang)" || die "clang is installed but too old, or cannot link -fsanitize=fuzzer: install clang-16 and libclang-rt-16-dev, or newer"
}

build="build-fuzz"
logged "configure-$build" "" tools/run env CXX="$clang" CC="${clang/clang++/clang}" cmake \
  -S src/pqc_mav_tunnel -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPQCMAV_FUZZ=ON \
  -DPQCMAV_SANITIZE=address,undefined -DPQCMAV_PYTHON=OFF -DPQCMAV_MICRO_BENCHMARKS=OFF -DBUILD_TESTING=OFF \
  -DCMAKE_UNITY_BUILD=ON
say "building the fuzz targets with $clang"
tools/run cmake --build "$build" --parallel "$(nproc)" -- --quiet || die "the fuzz build failed"

if [ $# -gt 0 ]; then
  targets=("${@/#/$build/}")
else
  mapfile -t targets < <(find "$build" -maxdepth 1 -type f -name 'fuzz_*' -perm -u+x | sort)
fi
[ ${#targets[@]} -gt 0 ] || die "no fuzz target was built"
seconds="${FUZZ_SECONDS:-60}"
mkdir -p "$DEPS/fuzz/findings"
failed=()
rows=()
for target in "${targets[@]}"; do
  name="$(basename "$target")"
  seeds=("$DEPS/fuzz/$name")
  mkdir -p "${seeds[0]}"
  more=()
  if [ "$name" = fuzz_sequences ]; then  # makes its seeds itself; an input is worth its time when it is long
    PQCMAV_SEEDS="${seeds[0]}" tools/run "$target"
    more=(-len_control=0 -max_len=600)
  fi
  if [ -d "src/pqc_mav_tunnel/fuzz/corpus/$name" ]; then seeds+=("src/pqc_mav_tunnel/fuzz/corpus/$name"); fi
  say "$name for $seconds s"
  if "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 "${more[@]}" \
    -artifact_prefix="$DEPS/fuzz/findings/$name-" "${seeds[@]}" >"$DEPS/log/$name.log" 2>&1; then
    grep -E 'number_of_executed_units|peak_rss' "$DEPS/log/$name.log" || true
    rows+=("$(awk -v name="$name" '{found[$1] = $2} END {
      printf "| `%s` | %d | %d |", name, found["stat::number_of_executed_units:"], found["stat::peak_rss_mb:"]
    }' "$DEPS/log/$name.log") $(find "${seeds[@]}" -type f | wc -l) |")
  else
    tail -n 40 "$DEPS/log/$name.log"
    failed+=("$name")
  fi
done
[ ${#failed[@]} -eq 0 ] || die "findings in: ${failed[*]} (inputs in .deps/fuzz/findings)"
say "${#targets[@]} fuzz targets, $seconds s each, no finding"
[ -n "${FUZZ_PAGE:-}" ] || exit 0
{
  cat <<TEXT
# What fuzzing found

Nothing. Written by \`FUZZ_PAGE=bench/results/fuzz.md FUZZ_SECONDS=$seconds make fuzz\` on $(date -u +%F): each target for $seconds s with
$("$clang" --version | head -n 1), AddressSanitizer and UndefinedBehaviorSanitizer, one after the other.

| target | inputs tried | MiB at most | corpus, inputs |
|---|---|---|---|
TEXT
  printf '%s\n' "${rows[@]}"
} >"$FUZZ_PAGE.new"
mv "$FUZZ_PAGE.new" "$FUZZ_PAGE"
say "$FUZZ_PAGE"
