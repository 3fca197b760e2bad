#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes sure that the machine has the compilers and headers the workspace needs. Installs only what is missing, with
# apt, when it may (root, or sudo without a question); otherwise one line names what to install.
#   setup_system.sh [demo]     demo: as in setup_liboqs.sh
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
liboqs_part=("$@")

header() { [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ] || compgen -G "/usr/include/*-linux-gnu*/$1" >/dev/null; }

# Prints the Debian/Ubuntu name of everything that is missing.
missing() {
  have g++ || echo g++
  have cmake || echo cmake
  have ninja || echo ninja-build
  have pkg-config || echo pkg-config
  header openssl/evp.h || echo libssl-dev
  header yaml-cpp/yaml.h || echo libyaml-cpp-dev
  header nlohmann/json.hpp || echo nlohmann-json3-dev
  [ -d /usr/src/googletest ] || [ -d /usr/src/gtest ] || echo libgtest-dev
  "$ROOT/tools/find_python.sh" >/dev/null 2>&1 || printf '%s\n' python3 python3-dev python3-venv
  if ! have cargo && ! "$ROOT/tools/setup_liboqs.sh" --ready "${liboqs_part[@]}"; then
    # Debian 12 keeps a current cargo under another name; its plain one cannot read today's crate index.
    if [ -n "$(apt-cache search --names-only '^cargo-web$' 2>/dev/null)" ]; then echo cargo-web; else echo cargo; fi
  fi
  if [ "$(ros_mode)" = system ] && ! have colcon; then echo python3-colcon-common-extensions; fi
}

mapfile -t packages < <(missing)
[ ${#packages[@]} -gt 0 ] || exit 0

if ! have apt-get; then
  die "missing: ${packages[*]} (Debian names): install them with this system's package manager and run make again"
fi
require_network "${packages[*]}"
become_root || die "missing: ${packages[*]}: run 'sudo apt-get install ${packages[*]}' and then make again"
say "installing with apt: ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
hint="run 'apt-get update && apt-get install ${packages[*]}' yourself"
if ! "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${packages[@]}" \
  >/dev/null 2>&1; then
  # Lists that are missing or old are the usual cause.
  logged apt-update "$hint" "${as_root[@]}" apt-get update -q
  mapfile -t packages < <(missing)
  logged apt-install "$hint" "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
    --no-install-recommends "${packages[@]}"
fi
mapfile -t packages < <(missing)
[ ${#packages[@]} -eq 0 ] || die "still missing after apt-get install: ${packages[*]}; $hint"
