#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Kubernetes and MetalLB from their own modules (tools/cluster) and our images, each once, and runs ground stations
# of docker/k8s in a cluster of three nodes (chaos/run cluster). Nothing of this machine's network changes.
#   cluster.sh [options of chaos/run cluster]      after setup.sh
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

readonly KUBERNETES=1.34.4 METALLB=0.15.2 PLACE="$DEPS/cluster"
readonly PROGRAMS=(kubelet kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubectl)

# go_in FOLDER WORDS...: go in the module of a folder of tools/cluster.
go_in() { (cd "tools/cluster/$1" && CGO_ENABLED=0 go "${@:2}"); }

kubernetes() {
  local flags="-s -w" where made
  made="$PLACE/bin/made-$(hash_of <tools/cluster/go.sum)"
  if [ -e "$made" ]; then return; fi
  for where in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $where.gitVersion=v$KUBERNETES -X $where.gitMajor=1 -X $where.gitMinor=34"
  done
  logged kubernetes "it needs Go 1.24 or newer" go_in . build -trimpath -ldflags "$flags" -o "$PLACE/bin/" \
    "${PROGRAMS[@]/#/k8s.io/kubernetes/cmd/}" github.com/cloudnativelabs/kube-router/v2/cmd/kube-router
  : >"$made"
}

# archive NAME IMAGE: an image as containerd can read it.
archive() {
  rm -f "$PLACE/images/$1.tar"
  logged "archive-$1" "" buildah_here push "$2" "docker-archive:$PLACE/images/$1.tar:$2"
}

# alone PROGRAM IMAGE [OPTION...]: the archive of an image that has nothing but a program; options of 'buildah config'.
alone() {
  local container name="${1##*/}"
  container="$(buildah_here from scratch)"
  buildah_here add -q "$container" "$1" "/$name"
  buildah_here config --entrypoint "[\"/$name\"]" "${@:3}" "$container"
  buildah_here commit -q --rm "$container" "$2" >/dev/null
  archive "$name" "$2"
}

# Its images have the names by which its own manifest asks for them.
metallb() {
  local made part
  made="$PLACE/metallb/made-$(hash_of <tools/cluster/metallb/go.sum)"
  if [ -e "$made" ]; then return; fi
  logged metallb "it needs Go 1.24 or newer" go_in metallb build -trimpath -ldflags "-s -w" -o "$PLACE/metallb/" \
    go.universe.tf/metallb/controller go.universe.tf/metallb/speaker
  for part in controller speaker; do alone "$PLACE/metallb/$part" "quay.io/metallb/$part:v$METALLB"; done
  cp "$(go_in metallb list -m -f '{{.Dir}}' go.universe.tf/metallb)/config/manifests/metallb-native.yaml" "$PLACE/metallb.yaml"
  : >"$made"
}

# What holds a pod's namespaces: Kubernetes' own, from its own source.
pause() {
  local source
  source="$(go_in . list -m -f '{{.Dir}}' k8s.io/kubernetes)/build/pause/linux/pause.c"
  cc -Os -static -DVERSION="$KUBERNETES" -o "$PLACE/pause" "$source"
  alone "$PLACE/pause" localhost/pqcmav-pause:1 --user 65535:65535
}

images() {
  local made part
  # Of this state of what goes into them.
  made="$PLACE/images/made-$({ git ls-files -s src docker && git diff src docker; } | hash_of)"
  if [ -e "$made" ]; then return; fi
  tools/images.sh --no-test
  pause
  for part in tunneld suite; do archive "$part" "localhost/pqcmav-$part:amd64"; done
  rm -f "$PLACE/images"/made-*
  : >"$made"
}

[ "$(uname -m)" = x86_64 ] || die "make cluster runs on x86-64 only"
become_root || die "a cluster has namespaces and mounts of its own, which needs root: use 'sudo make cluster'"
have go || die "make cluster builds Kubernetes and needs Go 1.24 or newer: install it from https://go.dev/dl or your distribution"
mkdir -p "$PLACE/bin" "$PLACE/images" "$PLACE/metallb"
step "containerd, etcd and what nodes need" need cluster containerd runc etcd=etcd-server iptables ipset conntrack nft=nftables ip=iproute2 \
  /usr/lib/cni/bridge=containernetworking-plugins buildah unshare=util-linux
step "Kubernetes $KUBERNETES (once)" kubernetes
step "MetalLB $METALLB (once)" metallb
step "images" images
exec "${as_root[@]}" tools/run chaos/run cluster "$@"
