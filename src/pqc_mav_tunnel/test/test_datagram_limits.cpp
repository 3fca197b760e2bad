// SPDX-License-Identifier: Apache-2.0
#include "handshake/datagram_limits.hpp"

#include <gtest/gtest.h>
