#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the package of the daemon for one architecture from what deb_build.sh compiled, or with ARCHITECTURE all those
# that are the same for every one: of the command, and of both. The libraries that the daemon needs are those of the
# program of this machine's own architecture: of the same release, they have the same names and versions.
#   deb_pack.sh ARCHITECTURE NATIVE
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail
cd "$ROOT"

arch="$1" native="$2"
build="build-deb/$arch"
manifest=src/pqc_mav_tunnel/package.xml
version="$(sed -n 's/.*<version>\(.*\)<\/version>.*/\1/p' "$manifest")-1"
maintainer="$(sed -n 's/.*<maintainer email="\([^"]*\)">\(.*\)<\/maintainer>.*/\2 <\1>/p' "$manifest" | head -n 1)"
strip="strip"
if [ "$arch" != "$native" ] && [ "$arch" != all ]; then
  cross_target "$arch"
  strip="$triplet-strip"
fi

# needs FILE...: prints the packages with the libraries of these programs, by dpkg's own tool.
needs() {
  local work="$PWD/build-deb/shlibdeps" files=()
  for file in "$@"; do files+=("-e$PWD/build-deb/$native/$file"); done
  rm -rf "$work"
  mkdir -p "$work/debian"
  printf 'Source: pqcmav\n\nPackage: pqcmav\nArchitecture: any\n' >"$work/debian/control"
  (cd "$work" && dpkg-shlibdeps -O --ignore-missing-info -l"$PWD/../$native" "${files[@]}" 2>shlibdeps.log) |
    sed 's/^shlibs:Depends=//' || die "dpkg-shlibdeps: $(tail -n 1 "$work/shlibdeps.log")"
  rm -rf "$work"
}

# program FROM TO MODE: installed without symbols.
program() {
  install -D -m "$3" "$build/$1" "$tree/$2"
  "$strip" --strip-unneeded --remove-section=.comment --remove-section=.note "$tree/$2"
}

text() { install -D -m 0644 "$1" "$tree/$2"; }

# manual NAME.SECTION: a page that manual_pages.py wrote.
manual() {
  mkdir -p "$tree/usr/share/man/man${1##*.}"
  gzip -9nc "build-deb/man/$1" >"$tree/usr/share/man/man${1##*.}/$1.gz"
  chmod 0644 "$tree/usr/share/man/man${1##*.}/$1.gz"
}

documents() {
  local folder="usr/share/doc/$package"
  text packaging/copyright "$folder/copyright"
  mkdir -p "$tree/$folder"
  printf 'pqcmav (%s) unstable; urgency=medium\n\n  * Changes are in the CHANGELOG.rst of each package of PQC-MAV.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -uRd "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$tree/$folder/changelog.Debian.gz"
  chmod 0644 "$tree/$folder/changelog.Debian.gz"
}

# In KiB, as Debian's policy counts: folders have another size on each file system.
installed_size() {
  find "$tree" -name DEBIAN -prune -o -type f -printf '%s\n' -o -printf '1\n' | awk '{n += int(($1 + 1023) / 1024)} END {print n}'
}

# pack DEPENDS: the control files, and the package.
pack() {
  local script kind="${package#pqcmav-}"  # of the package of both: pqcmav
  documents
  mkdir -p "$tree/DEBIAN"
  (cd "$tree" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | LC_ALL=C sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
  if [ -d "$tree/etc" ]; then (cd "$tree" && find etc -type f -printf '/%p\n' | LC_ALL=C sort) >"$tree/DEBIAN/conffiles"; fi
  sed -e "s/@VERSION@/$version/g; s/@ARCH@/$arch/; s/@MAINTAINER@/$maintainer/; s/@DEPENDS@/${1:-}/" \
    -e "s/@SIZE@/$(installed_size)/" "packaging/$kind.control" >"$tree/DEBIAN/control"
  for script in postinst prerm postrm; do
    [ ! -f "packaging/$kind.$script" ] || install -m 0755 "packaging/$kind.$script" "$tree/DEBIAN/$script"
  done
  find "$tree" -type d -exec chmod 0755 {} +
  find "$tree/DEBIAN" -type f ! -perm /111 -exec chmod 0644 {} +
  find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz --build "$tree" "build-deb/${package}_${version}_$arch.deb" >/dev/null
  rm -rf "$tree"
}

# new_package NAME: begins an empty one.
new_package() {
  package="$1"
  tree="build-deb/tree/$package"
  rm -rf "$tree"
}

if [ "$arch" != all ]; then
  soname="$(basename "$build"/liboqs.so.*)"
  new_package pqcmav-tunneld
  program pqcmav-tunneld usr/bin/pqcmav-tunneld 0755
  program "$soname" "usr/lib/pqcmav/$soname" 0644
  text packaging/pqcmav-tunneld@.service usr/lib/systemd/system/pqcmav-tunneld@.service
  text src/pqc_mav_bringup/systemd/00-pqcmav.conf usr/lib/sysctl.d/00-pqcmav.conf
  text packaging/drone.yaml etc/pqcmav/tunneld/drone.yaml
  text packaging/gcs.yaml etc/pqcmav/tunneld/gcs.yaml
  text packaging/README.Debian usr/share/doc/pqcmav-tunneld/README.Debian
  manual pqcmav-tunneld.8
  manual pqcmav.yaml.5
  depends="$(needs pqcmav-tunneld "$soname")"
  pack "$depends"
  exit 0
fi

new_package pqcmav-cli
modules="$tree/usr/lib/pqcmav/python3"
mkdir -p "$modules"
cp -r build-deb/python/. "$modules"
for name in pqc_mav_bringup pqc_mav_cli pqc_mav_common pqc_mav_dashboard pqc_mav_proxy; do cp -r "src/$name/$name" "$modules"; done
cp -r src/pqc_mav_tunnel/python/pqc_mav_tunnel "$modules"
mkdir -p "$modules/pqc_mav_cli-${version%-*}.dist-info"
printf 'Metadata-Version: 2.1\nName: pqc_mav_cli\nVersion: %s\n' "${version%-*}" >"$modules/pqc_mav_cli-${version%-*}.dist-info/METADATA"
find "$modules" \( -name __pycache__ -o -name '*.pyi' -o -name py.typed \) -prune -exec rm -rf {} +
# No module is a program: some say the name of an interpreter that Debian does not have.
find "$modules" -name '*.py' -exec sed -i '1{/^#!/d}' {} +
find "$modules" -type f -exec chmod 0644 {} +
# One file of a version of Python or of a machine, and the package would not run with every other.
bound="$(find "$modules" -name '*.so*' -o -name '*.pyc' | head -n 1)"
[ -z "$bound" ] || die "${bound#"$modules"/} is for one machine or one version of Python: pqcmav-cli is for all"
install -D -m 0755 packaging/pqcmav "$tree/usr/bin/pqcmav"
PYTHONPATH="$modules" PATH="$PWD/build-deb/$native:$PATH" LD_LIBRARY_PATH="$PWD/build-deb/$native" PQCMAV_WITHOUT_ROS=1 \
  _ROS_WHEELS_BOOTSTRAP_COMPLETE=1 logged deb-man "" "$VENV/bin/python" -B tools/manual_pages.py build-deb/man
text packaging/pqcmav-metrics.service usr/lib/systemd/system/pqcmav-metrics.service
text packaging/prometheus/prometheus.yml usr/share/doc/pqcmav-cli/prometheus/prometheus.yml
text packaging/prometheus/pqcmav.rules.yml usr/share/doc/pqcmav-cli/prometheus/pqcmav.rules.yml
text packaging/prometheus/pqcmav.rules.test.yml usr/share/doc/pqcmav-cli/prometheus/pqcmav.rules.test.yml
manual pqcmav.1
pack

new_package pqcmav
pack
