#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random schedules of an attacker without a key against the engine's own classes: RUNS (10000) of them, SEED (1) the first.
set -euo pipefail
cd "$(dirname "$0")/.."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
PQCMAV_ADDRESS_RUNS=${RUNS:-10000} PQCMAV_ADDRESS_SEED=${SEED:-1} PQCMAV_ADDRESS_REPORT=$table \
  tools/run build/pqc_mav_tunnel/long_tests --gtest_filter=AddressSimulation.*
page=bench/results/addresses.md
{
  cat <<'TEXT'
# Whose address counts

Written by `make addresses`. Simulated: an attacker without a key around the engine's own classes
(`test_address_simulation`), 40 s a run, one way 5 to 60 ms, his copies 1 to 50 ms earlier, from one to three addresses;
he passes on nothing, all, all but commands, half of them, one datagram of each attempt, or holds back. Nothing is
dropped on the drone's own path. The promises: 99 % of the commands of a run, up within 2 RTT + 1 s of a restart, and
three times at most to an address at which nobody answers. Forged copies of *all* packets delay the discovery of a move:
eight of a slot's packets get a turn, whosever, so that among 20 forged ones the drone's own is one of 21. That row promises the last two.

TEXT
  cat "$table"
  # What it costs is measured by hand (bench/versus.py), and stays.
  sed -n '/^## What it costs/,$p' "$page" | sed '1s/^/\n/'
} >"$page.new"
mv "$page.new" "$page"
echo "$page"
