// SPDX-License-Identifier: Apache-2.0
#include "keys/restart_key_file.hpp"

#include <gtest/gtest.h>
