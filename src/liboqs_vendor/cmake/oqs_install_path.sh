# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The liboqs that this package built and installed.
export OQS_INSTALL_PATH="$AMENT_CURRENT_PREFIX/opt/liboqs_vendor"
