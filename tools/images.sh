#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Container images without a registry and without a daemon: pqcmav-tunneld for amd64 and arm64, pqcmav-suite for amd64,
# on a Debian that is bootstrapped here. Then containers of them fly docker/compose.yaml and the demo, and benchmark.
#   images.sh             after setup.sh; 'make clean' removes what it made, in .deps/containers
#   images.sh --no-test   only makes those for amd64
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

certificates=/etc/ssl/certs/ca-certificates.crt

# base ARCHITECTURE: the bootstrapped Debian as an image.
base() {
  local container
  tools/debian_base.sh "$1" && container="$(buildah_here from --arch "$1" scratch)" &&
    logged "image-base-$1" "" buildah_here add "$container" "$DEPS/debian/$1.tar" / &&
    buildah_here config --arch "$1" --os linux --cmd /bin/bash "$container" &&
    logged "image-base-$1" "" buildah_here commit --rm "$container" "localhost/pqcmav-base:$1"
}

# image NAME ARCHITECTURE DOCKERFILE [OPTION...]
image() {
  local name="$1" arch="$2" file="$3"
  shift 3
  logged "image-$name-$arch" "" buildah_here bud --isolation chroot --format docker --platform "linux/$arch" --pull-never \
    --build-arg "BASE=localhost/pqcmav-base:$arch" --tag "localhost/$name:$arch" --file "$file" "$@" .
}

# On a network with certificates of its own, the build needs this machine's.
suite() {
  local options=(--build-arg "PARTS=analysis dashboard") inside=/run/certificates.crt
  if [ -f "$certificates" ]; then
    options+=(--volume "$certificates:$inside:ro" --build-arg "PIP_CERT=$inside" --build-arg "CARGO_HTTP_CAINFO=$inside")
  fi
  image pqcmav-suite amd64 docker/suite.Dockerfile "${options[@]}"
}

containers() { "${as_root[@]}" "$ROOT/tools/run" python tools/image_test.py "$@" -- "${IMAGE_STORE[@]}"; }

[ "$(uname -m)" = x86_64 ] || die "make images makes images of both architectures on x86-64 only"
become_root || die "images are made as root here: use 'sudo make images'"
mkdir -p "$DEPS/log"
architectures=(amd64 arm64)
tools=(buildah mmdebstrap)
if [ "${1:-}" = --no-test ]; then
  architectures=(amd64)
else
  tools+=("podman=podman crun conmon netavark" ip=iproute2 "${EMULATION[@]}")
fi
step "tools" need images "${tools[@]}"
step "packages of pqcmav-tunneld" tools/deb.sh --no-test "${architectures[@]}"
for arch in "${architectures[@]}"; do
  step "Debian for $arch" base "$arch"
  step "pqcmav-tunneld for $arch" image pqcmav-tunneld "$arch" docker/tunneld.Dockerfile
done
if [ "${1:-}" = --no-test ]; then
  step "pqcmav-suite for amd64" suite
  exit
fi
for pair in "amd64 amd64" "amd64 arm64" "arm64 amd64"; do
  read -r gcs drone <<<"$pair"
  step "containers: $gcs gcs, $drone drone" containers pair "$gcs" "$drone"
done
step "pqcmav-suite for amd64" suite
step "containers: the demo" containers demo
step "containers: the flight of docker/compose.yaml" containers flight
step "containers: a benchmark of two machines" containers campaign

buildah_here images --format '{{.Size}}  {{.Name}}:{{.Tag}}' | grep pqcmav
printf '%s\n' "${steps[@]}"
