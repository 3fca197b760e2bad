#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the Python interpreter to make .venv with: $PYTHON, else the system's, else the first on PATH that is 3.10 or
# newer and has venv, pip and its C headers. Exit 1 with one line when there is none.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
set -euo pipefail

usable() {
  "$1" -I - <<'PY' 2>/dev/null
import ensurepip, os, sys, sysconfig, venv
header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
sys.exit(0 if sys.version_info >= (3, 10) and os.path.exists(header) else 1)
PY
}

if [ -n "${PYTHON:-}" ]; then
  usable "$PYTHON" || die "PYTHON=$PYTHON is not Python >= 3.10 with venv and headers (python3-venv, python3-dev)"
  command -v "$PYTHON"
  exit
fi
for candidate in /usr/bin/python3 python3 python3.12 python3.11; do
  if have "$candidate" && usable "$candidate"; then
    command -v "$candidate"
    exit
  fi
done
die "no Python >= 3.10 with venv and headers: install python3 python3-dev python3-venv"
