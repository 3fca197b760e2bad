// SPDX-License-Identifier: Apache-2.0
// The short form of a frame's header (docs/protocol.md section 10): what it leaves out the receiver knows by the index.
#pragma once

#include <optional>

#include "session/frame.hpp"

namespace pqcmav {

inline constexpr std::size_t kCompactHeaderMin = 4, kCompactHeaderMax = 5;

struct CompactHeader {
  FrameType type;
  std::uint16_t index;     // the receiver's
  std::uint16_t sequence;  // the low bits
  [[nodiscard]] std::size_t size() const noexcept { return index > 0xff ? kCompactHeaderMax : kCompactHeaderMin; }
};

[[nodiscard]] inline bool is_compact(ByteView datagram) noexcept { return !datagram.empty() && datagram[0] >= 0x80; }
/// nullopt unless it is one with room for its tag behind it.
std::optional<CompactHeader> parse_compact_header(ByteView datagram) noexcept;
/// `out` has header.size() bytes.
void write_compact_header(const CompactHeader& header, MutableBytes out) noexcept;
/// The sequence with these low bits that is nearest to `next`, the highest verified one plus one.
[[nodiscard]] std::uint64_t full_sequence(std::uint16_t low, std::uint64_t next) noexcept;

}  // namespace pqcmav
