# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder (bash, sourced): paths, messages and content hashes.
# shellcheck shell=bash disable=SC2034  # the paths are for the scripts that source this

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="$ROOT/.venv"
DEPS="$ROOT/.deps"
PQCMAV_ROOT="$ROOT"
# shellcheck source=ros.sh
. "$ROOT/tools/ros.sh"
LIBOQS_PREFIX="$DEPS/liboqs"
# Where container images are made and kept, by whichever program.
IMAGE_STORE=(--root "$DEPS/containers/storage" --runroot "$DEPS/containers/run" --storage-driver vfs)

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
# One line that says what is wrong and what to do; every script ends through it.
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Stops if what make writes cannot be written here: in another user's clone, or after a run as root.
require_own_clone() {
  local folder owner
  for folder in "$ROOT" "$DEPS" "$VENV" "$ROOT/build" "$ROOT/install"; do
    if [ ! -e "$folder" ] || [ -w "$folder" ]; then continue; fi
    owner="$(stat -c %U "$folder")"
    if [ "$folder" = "$ROOT" ]; then
      die "$ROOT belongs to $owner, and $(id -un) cannot write to it: clone the repository into a folder of your own"
    fi
    die "$folder belongs to $owner, and $(id -un) cannot write to it: run 'sudo chown -R $(id -un) $ROOT', then make again"
  done
}

# Stops if git refuses to read the clone, which it does in another user's.
require_git() {
  git -C "$ROOT" rev-parse --git-dir >/dev/null 2>&1 ||
    die "git does not read $ROOT, which belongs to $(stat -c %U "$ROOT"): run make as that user, or" \
      "'git config --global --add safe.directory $ROOT'"
}

# A short hash of standard input.
hash_of() { sha256sum | cut -c1-16; }

# "system" when a ROS 2 installation is sourced, else "wheels". What tools/env.sh puts on the path is none.
ros_mode() {
  local places=":${AMENT_PREFIX_PATH:-}:"
  places="${places//":$ROOT/install:"/:}"
  places="${places//":$VENV:"/:}"
  if [ -n "${ROS_DISTRO:-}" ] && [ -n "${places//:/}" ]; then
    case "$ROS_DISTRO" in
      ardent | bouncy | crystal | dashing | eloquent | foxy | galactic | humble | iron)
        die "ROS_DISTRO=$ROS_DISTRO is too old: use ROS 2 Jazzy or newer, or a shell without it to use the Python wheels" ;;
    esac
    echo system
  else
    echo wheels
  fi
}

# Which distribution of ROS 2 comes as wheels, where none is sourced: the one of the last time, or Jazzy.
wheels_of() {
  local last=
  if [ -r "$VENV/.pqcmav-stamp" ]; then read -r _ last _ <"$VENV/.pqcmav-stamp" || true; fi
  if [ "$last" != kilted ]; then last=jazzy; fi
  case "${ROS_DISTRO:-$last}" in
    jazzy | kilted) echo "${ROS_DISTRO:-$last}" ;;
    *) die "ROS_DISTRO=$ROS_DISTRO, but that ROS 2 is not sourced: source it, or choose wheels by ROS_DISTRO=jazzy or kilted" ;;
  esac
}

# buildah on these images, after become_root.
buildah_here() { "${as_root[@]}" buildah "${IMAGE_STORE[@]}" "$@"; }

# logged NAME HINT CMD...: runs a command with its output in .deps/log/NAME.log; when it fails, stops with one line
# that carries the command's own last error and the hint, if there is one, what to do.
logged() {
  local name="$1" hint="$2" log="$DEPS/log/$1.log" cause
  shift 2
  mkdir -p "$DEPS/log"
  if ! "$@" >"$log" 2>&1; then
    cause="$({ grep -iE 'error|failed|cannot|unable' "$log" || tail -n 1 "$log"; } | tail -n 1 | cut -c1-300)"
    cause="${cause#error: }"
    if grep -qiE 'temporary failure|name resolution|could not resolve|network is unreachable|connection (refused|broken|error)|NewConnectionError|timed out' "$log"; then
      cause="no network? $cause"
    fi
    die "$name: ${cause:-failed}${hint:+; $hint} (whole output: ${log#"$ROOT"/})"
  fi
}

# require_network WHAT: stops at once on a machine without any route to another one, for what WHAT has to be fetched.
require_network() {
  local routes=/proc/net/route routes6=/proc/net/ipv6_route known=()
  [ -r "$routes" ] || return 0
  # Any route of IPv4 is one; of IPv6 not those of the loopback interface and not link-local or multicast ones.
  mapfile -t known <"$routes"
  [ ${#known[@]} -le 1 ] || return 0
  if [ -r "$routes6" ] && grep -qvE '^(fe80|ff00)|[[:space:]]lo$' "$routes6"; then return 0; fi
  die "no network: $1 cannot be fetched; connect this machine and run make again"
}

# Root, or able to become root without a question: sets `as_root`, which goes in front of a command and its variables.
become_root() {
  if [ "$(id -u)" = 0 ]; then
    as_root=(env)
  elif have sudo && sudo -n true 2>/dev/null; then
    as_root=(sudo -n env)
  else
    return 1
  fi
}

# apt_install NAME PACKAGE...: installs packages with apt, or says in one line who has to; logs are NAME-*.log.
apt_install() {
  local name="$1" as_root
  shift
  have apt-get || die "missing: $*: install them with this system's package manager"
  become_root || die "missing: $*: run 'sudo apt-get install $*' and then make again"
  logged "$name-update" "check the network" "${as_root[@]}" apt-get update -q
  logged "$name-tools" "run 'apt-get install $*' yourself" "${as_root[@]}" DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "$@"
}

# cross_target ARCHITECTURE: sets what cross compilation for this Debian architecture needs: `triplet`, `processor` as
# CMake calls it, `emulator` (a command and the processor it plays), and `cross_tools`, for need.
cross_target() {
  case "$1" in
    arm64) triplet=aarch64-linux-gnu processor=aarch64 emulator=(qemu-aarch64-static -cpu cortex-a76) ;;  # Raspberry Pi 5
    armhf) triplet=arm-linux-gnueabihf processor=armv7l emulator=(qemu-arm-static -cpu cortex-a7) ;;      # Raspberry Pi 2
    riscv64) triplet=riscv64-linux-gnu processor=riscv64 emulator=(qemu-riscv64-static) ;;
    *) die "ARCH is '$1'; it must be arm64, armhf or riscv64" ;;
  esac
  cross_tools=("$triplet-g++=g++-$triplet" "${emulator[0]}=qemu-user-static")
}

# What runs a Debian of arm64, for need.
EMULATION=("qemu-aarch64-static=qemu-user-static" "update-binfmts=binfmt-support" arch-test)

# need NAME WHAT[=PACKAGE...]...: installs with apt the packages of those programs, or files with a slash in front, that
# are not here; a program without a package comes in the one of its name. NAME as in apt_install.
need() {
  local name="$1" each what packages lacking=()
  shift
  for each in "$@"; do
    what="${each%%=*}"
    if have "$what" || [[ "$what" = /* && -e "$what" ]]; then continue; fi
    read -ra packages <<<"${each#*=}"
    lacking+=("${packages[@]}")
  done
  [ ${#lacking[@]} -eq 0 ] || apt_install "$name" "${lacking[@]}"
}

# step NAME CMD...: runs a part and notes in `steps` how long it took; the first that fails ends the run.
steps=()
step() {
  local name="$1" start=$SECONDS
  shift
  say "$name"
  "$@" || die "failed: $name"
  steps+=("$(printf '%5d s  %s' $((SECONDS - start)) "$name")")
}
