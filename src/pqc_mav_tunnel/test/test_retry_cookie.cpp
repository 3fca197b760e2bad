// SPDX-License-Identifier: Apache-2.0
#include "handshake/retry_cookie.hpp"

#include <gtest/gtest.h>
