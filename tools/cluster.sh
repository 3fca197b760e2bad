#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Kubernetes from its own modules (tools/cluster/go.mod) and our images, each once, and runs ground stations of
# docker/k8s in a cluster of three nodes (chaos/run cluster). Nothing of this machine's network changes.
#   cluster.sh [options of chaos/run cluster]      after setup.sh
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

readonly KUBERNETES=1.34.4 PLACE="$DEPS/cluster"
readonly PROGRAMS=(kubelet kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubectl)

go_here() { (cd tools/cluster && CGO_ENABLED=0 go "$@"); }

kubernetes() {
  local flags="-s -w" where made
  made="$PLACE/bin/made-$(hash_of <tools/cluster/go.sum)"
  if [ -e "$made" ]; then return; fi
  for where in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $where.gitVersion=v$KUBERNETES -X $where.gitMajor=1 -X $where.gitMinor=34"
  done
  logged kubernetes "it needs Go 1.24 or newer" go_here build -trimpath -ldflags "$flags" -o "$PLACE/bin/" \
    "${PROGRAMS[@]/#/k8s.io/kubernetes/cmd/}" github.com/cloudnativelabs/kube-router/v2/cmd/kube-router
  : >"$made"
}

# archive NAME TAG: an image as containerd can read it.
archive() {
  rm -f "$PLACE/images/$1.tar"
  logged "archive-$1" "" buildah_here push "localhost/pqcmav-$1:$2" \
    "docker-archive:$PLACE/images/$1.tar:localhost/pqcmav-$1:$2"
}

# What holds a pod's namespaces: Kubernetes' own, from its own source.
pause() {
  local source container
  source="$(go_here list -m -f '{{.Dir}}' k8s.io/kubernetes)/build/pause/linux/pause.c"
  cc -Os -static -DVERSION="$KUBERNETES" -o "$PLACE/pause" "$source"
  container="$(buildah_here from scratch)"
  buildah_here add -q "$container" "$PLACE/pause" /pause
  buildah_here config --entrypoint '["/pause"]' --user 65535:65535 "$container"
  buildah_here commit -q --rm "$container" localhost/pqcmav-pause:1 >/dev/null
}

images() {
  local made
  # Of this state of what goes into them.
  made="$PLACE/images/made-$({ git ls-files -s src docker && git diff src docker; } | hash_of)"
  if [ -e "$made" ]; then return; fi
  tools/images.sh --no-test
  pause
  archive pause 1
  archive tunneld amd64
  archive suite amd64
  rm -f "$PLACE/images"/made-*
  : >"$made"
}

[ "$(uname -m)" = x86_64 ] || die "make cluster runs on x86-64 only"
become_root || die "a cluster has namespaces and mounts of its own, which needs root: use 'sudo make cluster'"
have go || die "make cluster builds Kubernetes and needs Go 1.24 or newer: install it from https://go.dev/dl or your distribution"
mkdir -p "$PLACE/bin" "$PLACE/images"
step "containerd, etcd and what nodes need" need cluster containerd runc etcd=etcd-server iptables ipset conntrack nft=nftables ip=iproute2 \
  /usr/lib/cni/bridge=containernetworking-plugins buildah unshare=util-linux
step "Kubernetes $KUBERNETES (once)" kubernetes
step "images" images
exec "${as_root[@]}" tools/run chaos/run cluster "$@"
