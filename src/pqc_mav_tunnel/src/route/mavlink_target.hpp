// SPDX-License-Identifier: Apache-2.0
// To whom a MAVLink message is addressed. This is the one place that must know messages: which of them name a target,
// and where. One that is not in the table is for all, as is one that names system 0.
#pragma once

#include <cstdint>

#include "bytes.hpp"
#include "shape/mavlink_walk.hpp"

namespace pqcmav {

struct MavlinkTarget {
  std::uint8_t system = 0, component = 0;  // 0: all
};

/// `frame` is the whole message that `header` was read from.
MavlinkTarget mavlink_target(const MavlinkHeader& header, ByteView frame) noexcept;

}  // namespace pqcmav
