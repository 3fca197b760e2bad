// SPDX-License-Identifier: Apache-2.0
#include "session/compact_header.hpp"

namespace pqcmav {
namespace {

constexpr std::uint8_t kCompact = 0x80, kControlBit = 0x40, kBundleBit = 0x20, kWideBit = 0x10, kZeroBits = 0x0f;

}  // namespace

std::optional<CompactHeader> parse_compact_header(ByteView datagram) noexcept {
  if (!is_compact(datagram)) return std::nullopt;
  const auto first = datagram[0];
  const bool control = (first & kControlBit) != 0, bundle = (first & kBundleBit) != 0, wide = (first & kWideBit) != 0;
  if ((first & kZeroBits) != 0 || (control && bundle)) return std::nullopt;
  if (datagram.size() < (wide ? kCompactHeaderMax : kCompactHeaderMin) + kTagSize) return std::nullopt;
  CompactHeader header{};
  header.type = control ? FrameType::control : bundle ? FrameType::bundle : FrameType::data;
  header.index = wide ? load_be<std::uint16_t>(datagram.data() + 1) : datagram[1];
  if (wide != (header.index > 0xff)) return std::nullopt;
  header.sequence = load_be<std::uint16_t>(datagram.data() + header.size() - 2);
  return header;
}

void write_compact_header(const CompactHeader& header, MutableBytes out) noexcept {
  const bool wide = header.index > 0xff;
  out[0] = static_cast<std::uint8_t>(kCompact | (header.type == FrameType::control ? kControlBit : 0) |
                                     (header.type == FrameType::bundle ? kBundleBit : 0) | (wide ? kWideBit : 0));
  if (wide)
    store_be(out.data() + 1, header.index);
  else
    out[1] = static_cast<std::uint8_t>(header.index);
  store_be(out.data() + header.size() - 2, header.sequence);
}

std::uint64_t full_sequence(std::uint16_t low, std::uint64_t next) noexcept {
  constexpr std::uint64_t kSpan = 0x10000;
  const auto ahead = static_cast<std::uint16_t>(low - next);  // modulo the span
  const auto above = next + ahead;
  return ahead > kSpan / 2 && above >= kSpan ? above - kSpan : above;
}

}  // namespace pqcmav
