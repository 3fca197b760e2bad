#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles what goes into the packages of one architecture, with liboqs at the packages' own place, into
# build-deb/<architecture>, and fetches the Python libraries of the command, which are the same for all, into
# build-deb/python.    deb_build.sh ARCHITECTURE
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

arch="$1"
build="build-deb/$arch"
builder="$ROOT/src/liboqs_vendor/scripts/build_liboqs.sh"
liboqs_for=() options=()
if [ "$arch" != "$(dpkg --print-architecture)" ]; then
  toolchain="$DEPS/$arch/toolchain.cmake"
  liboqs_for=(--toolchain "$toolchain")
  options=(-DCMAKE_TOOLCHAIN_FILE="$toolchain")
fi
# The pinned one, whatever this machine has installed.
key="$("$builder" --key "${liboqs_for[@]}")"
liboqs="$DEPS/liboqs-${toolchain:+$arch-}$key"
logged "liboqs-$arch" "" "$builder" "${liboqs_for[@]}" --prefix "$liboqs" --work "$DEPS/liboqs-$arch.work"

# Nothing of a sourced ROS 2, and no path of this machine in what is shipped.
logged "deb-configure-$arch" "" cmake -G Ninja -S src/pqc_mav_tunnel -B "$build" "${options[@]}" \
  -Dliboqs_DIR="$liboqs/lib/cmake/liboqs" -DCMAKE_DISABLE_FIND_PACKAGE_ament_cmake=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_liboqs_vendor=ON -DCMAKE_CXX_FLAGS="\"-ffile-prefix-map=$ROOT=.\"" \
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_INSTALL_RPATH=/usr/lib/pqcmav \
  -DPQCMAV_PYTHON=OFF -DPQCMAV_MICRO_BENCHMARKS=OFF -DBUILD_TESTING=OFF
logged "deb-build-$arch" "" cmake --build "$build" --parallel "$(nproc)" --target pqcmav-tunneld -- --quiet
# Under its soname, by which programs ask for it.
soname="$(objdump -p "$liboqs/lib/liboqs.so" | awk '$1 == "SONAME" {print $2}')"
rm -f "$build"/liboqs.so.*
cp -L "$liboqs/lib/liboqs.so" "$build/$soname"

# What the command imports: exactly the files that the workspace has, by their hashes, and of each the one without code
# for a machine or a version of Python. Debian 12 has an older typer, which cannot read the command's options.
wanted=" annotated-doc markdown-it-py mdurl prometheus-client pygments rich shellingham typer typing-extensions "
dashboard=" anyio click h11 idna segno starlette uvicorn websockets "
python="build-deb/python"
rm -rf "$python"
mkdir -p "$python"
awk -v command="$wanted" -v dashboard="$dashboard" '
  FNR == 1 {keep = 0; wanted = FILENAME ~ /dashboard/ ? dashboard : command}
  /^[a-z0-9]/ {split($1, name, "=="); keep = index(wanted, " " name[1] " ")} keep' \
  requirements/locked/system.txt requirements/locked/dashboard.txt >build-deb/python.txt
_ROS_WHEELS_BOOTSTRAP_COMPLETE=1 logged deb-python "Python packages come from PyPI" "$VENV/bin/python" -m pip install \
  --quiet --disable-pip-version-check --no-input --require-hashes --no-deps --no-compile --only-binary=:all: \
  --platform any --implementation py --abi none --python-version 3.11 --target "$python" -r build-deb/python.txt
# Of what pip notes about its own work, the list of files has hashes of programs with the path of .venv.
rm -rf "${python:?}/bin" "$python"/*.dist-info/{RECORD,INSTALLER,REQUESTED}
