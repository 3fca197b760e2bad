// SPDX-License-Identifier: Apache-2.0
// Which class of the shaper a MAVLink datagram belongs to (docs/protocol.md, Shaping).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

inline constexpr std::uint32_t kMavlinkIdMax = 0xff'ffff;

/// How one kind of message is treated.
struct Treatment {
  ShapeClass shape_class = ShapeClass::rest;
  bool newest = false;       // a newer value takes the place of a queued one of the same system and component
  bool corrections = false;  // of a satellite receiver: worthless when old
  bool parameters = false;   // values that come by the thousand, without being asked for one by one
  bool twice = false;        // over a radio: an answer, which nobody gives again by itself
  bool file = false;         // a piece of a file: its reader asks again for all that follows the first gap
  bool operator==(const Treatment&) const = default;
};

/// The protocol's table with what `shape_ids` changes.
class MessageClasses {
 public:
  using Override = std::pair<std::uint32_t, ShapeClass>;
  explicit MessageClasses(const std::vector<Override>& overrides = {});
  [[nodiscard]] Treatment of(std::uint32_t id) const noexcept;

 private:
  std::vector<std::pair<std::uint32_t, Treatment>> table_;  // by id
};

/// How a datagram is treated.
struct DatagramClass {
  ShapeClass shape_class = ShapeClass::rest;
  std::optional<std::uint64_t> stream =
      std::nullopt;  // a single message of which only the newest counts: its id, system, component
  bool corrections = false;
  std::optional<std::uint32_t> signer = std::nullopt;  // of the first signed message: its system, component, link
  bool parameters = false;                             // and nothing else
  bool twice = false;                                  // and nothing else, unsigned
  bool file = false;                                   // pieces of files, and nothing else
  bool operator==(const DatagramClass&) const = default;
};

/// A single unsigned PARAM_VALUE, short enough for the places of such.
bool is_parameter(ByteView datagram) noexcept;

/// The best class among its messages; what cannot be read belongs to the rest.
DatagramClass classify(ByteView datagram, const MessageClasses& classes) noexcept;

}  // namespace pqcmav
