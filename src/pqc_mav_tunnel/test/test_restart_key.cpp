// SPDX-License-Identifier: Apache-2.0
#include "handshake/restart_key.hpp"

#include <gtest/gtest.h>
