// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bytes.hpp"

namespace pqcmav {

enum class HandshakeSide : std::uint8_t { drone, gcs };
using AttemptId = ByteArray<8>;
using Cookie = ByteArray<32>;

}  // namespace pqcmav
