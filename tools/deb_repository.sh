#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the packages of build-deb into an apt repository: a folder for any web server. A folder that is there already
# keeps the packages of other releases.
#   deb_repository.sh FOLDER KEY    KEY as gpg --local-user takes it; GNUPGHOME says where it is
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

folder="$(realpath --canonicalize-missing "$1")" key="$2"  # some of it is written from inside
# shellcheck source=/dev/null
suite="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
[ -n "$suite" ] || die "this system does not name its release, of which the repository would be"
gpg --batch --list-secret-keys "$key" >/dev/null 2>&1 || die "gpg has no secret key '$key': see 'gpg --list-secret-keys'"

pool="pool/$suite" dists="dists/$suite"
mkdir -p "$folder/$pool"
# Written beside the old one and put in its place at the end: a web server may be reading.
new="$(mktemp -d "$folder/.new.XXXXXX")"
trap 'rm -rf "$new" "$new.old"' EXIT
cp -p "$ROOT"/build-deb/*.deb "$folder/$pool/"
architectures=()
for package in "$folder/$pool"/*.deb; do
  each="$(dpkg-deb --field "$package" Architecture)"
  if [ "$each" != all ] && [[ " ${architectures[*]} " != *" $each "* ]]; then architectures+=("$each"); fi
done
for arch in "${architectures[@]}"; do
  mkdir -p "$new/main/binary-$arch"
  # Those for every architecture are in each list.
  (cd "$folder" && apt-ftparchive --arch "$arch" packages "$pool") >"$new/main/binary-$arch/Packages"
  gzip -9nk "$new/main/binary-$arch/Packages"
done
(cd "$new" && apt-ftparchive -o APT::FTPArchive::Release::Origin=PQC-MAV -o APT::FTPArchive::Release::Label=PQC-MAV \
  -o APT::FTPArchive::Release::Suite="$suite" -o APT::FTPArchive::Release::Codename="$suite" \
  -o APT::FTPArchive::Release::Components=main -o APT::FTPArchive::Release::Architectures="${architectures[*]}" \
  release . >"$new.release" && mv "$new.release" Release)
sign() { gpg --batch --yes --local-user "$key" --digest-algo SHA512 --status-fd 1 "$@" "$new/Release"; }
# By its fingerprint: an address is part of other addresses, too, whose keys gpg would export with it.
key="$(sign --output "$new/InRelease" --clearsign | awk '$2 == "SIG_CREATED" {print $NF}')"
sign --output "$new/Release.gpg" --armor --detach-sign >/dev/null
gpg --batch --export "$key" >"$folder/pqcmav-archive-keyring.gpg"
chmod -R a+rX "$folder"
chmod 0755 "$new"
mkdir -p "$folder/dists"
[ ! -e "$folder/$dists" ] || mv "$folder/$dists" "$new.old"
mv "$new" "$folder/$dists"
gpgv --quiet --keyring "$folder/pqcmav-archive-keyring.gpg" "$folder/$dists/InRelease" >/dev/null 2>&1 ||
  die "the signature of $folder/$dists/InRelease is not good: is '$2' a key that signs?"
