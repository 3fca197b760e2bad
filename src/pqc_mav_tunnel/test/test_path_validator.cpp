// SPDX-License-Identifier: Apache-2.0
#include "net/path_validator.hpp"

#include <gtest/gtest.h>
