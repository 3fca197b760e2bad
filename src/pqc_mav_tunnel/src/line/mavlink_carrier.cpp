// SPDX-License-Identifier: Apache-2.0
#include "line/mavlink_carrier.hpp"

#include "route/x25.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kHead = 6, kFields = 2;  // of the message, and of its payload before the datagram's bytes
constexpr std::uint8_t kStart = 0xfe, kDataId = 131, kDataExtra = 223, kSystem = 51, kComponent = 191;

std::uint16_t sum_of(ByteView checked) noexcept { return x25_add(x25(checked), kDataExtra); }

bool is_ours(ByteView bytes) noexcept {
  return bytes.size() >= kHead + kFields + 2 && bytes[0] == kStart && bytes[1] >= kFields && bytes[3] == kSystem &&
         bytes[4] == kComponent && bytes[5] == kDataId;
}

/// Of a message that is whole.
bool sum_is_right(ByteView message) noexcept {
  const auto end = kHead + message[1];
  return (message[end] | message[end + 1] << 8) == sum_of(message.subspan(1, end - 1));
}

}  // namespace

std::size_t MavlinkCarrierWriter::write(LineAddress line, ByteView datagram, MutableBytes out) noexcept {
  const auto parts = std::max<std::size_t>(1, (datagram.size() + kCarrierPart - 1) / kCarrierPart);
  std::size_t used = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto rest = datagram.subspan(part * kCarrierPart);
    const auto bytes = rest.first(std::min(kCarrierPart, rest.size()));
    const auto payload = kFields + bytes.size();
    const auto size = static_cast<std::uint8_t>(payload), place = static_cast<std::uint8_t>(part << 4 | parts);
    const auto message = out.subspan(used, kHead + payload + 2);
    const ByteArray<kHead + kFields> head{kStart, size, sequence_++, kSystem, kComponent, kDataId, place, line.byte()};
    std::memcpy(message.data(), head.data(), head.size());
    if (!bytes.empty()) std::memcpy(message.data() + head.size(), bytes.data(), bytes.size());
    const auto sum = sum_of(message.subspan(1, kHead - 1 + payload));
    message[kHead + payload] = static_cast<std::uint8_t>(sum);
    message[kHead + payload + 1] = static_cast<std::uint8_t>(sum >> 8);
    used += message.size();
  }
  return used;
}

PartJoiner::Open& PartJoiner::place_of(LineAddress line) noexcept {
  auto* oldest = open_.data();
  for (auto& each : open_) {
    if (each.parts != 0 && each.line == line) return each;
    if (each.parts == 0 ? oldest->parts != 0 : oldest->parts != 0 && each.since < oldest->since) oldest = &each;
  }
  return *oldest;
}

std::optional<MutableBytes> PartJoiner::take(const CarriedPart& carried, std::uint64_t now) noexcept {
  auto& open = place_of(carried.line);
  const bool follows = open.parts != 0 && open.line == carried.line && open.sequence == carried.sequence &&
                       open.parts == carried.parts && open.next == carried.part && now - open.since <= kPartsWithinNs;
  if (open.parts != 0 && !follows) ++errors_;  // the rest of that one did not come
  if (!follows) {
    open.parts = 0;
    if (carried.part != 0) {
      ++errors_;
      return std::nullopt;
    }
    open.line = carried.line;
    open.size = 0;
    open.since = now;
  }
  std::ranges::copy(carried.bytes, open.bytes.begin() + carried.part * static_cast<std::ptrdiff_t>(kCarrierPart));
  open.size += carried.bytes.size();
  open.parts = carried.parts;
  open.next = static_cast<std::uint8_t>(carried.part + 1);
  open.sequence = static_cast<std::uint8_t>(carried.sequence + 1);
  if (open.next < carried.parts) return std::nullopt;
  open.parts = 0;
  if (open.size > kLineDatagramMost) {
    ++errors_;
    return std::nullopt;
  }
  return MutableBytes(open.bytes).first(open.size);
}

void PartJoiner::reset() noexcept {
  for (auto& each : open_) each.parts = 0;
}

bool MavlinkCarrierReader::is_sure(ByteView bytes) noexcept {
  return is_ours(bytes) && bytes.size() >= kHead + bytes[1] + 2 && sum_is_right(bytes);
}

std::optional<CarriedPart> MavlinkCarrierReader::carried_by(ByteView message) noexcept {
  if (!is_ours(message)) return std::nullopt;
  const CarriedPart out{LineAddress::of(message[kHead + 1]), message[2], static_cast<std::uint8_t>(message[kHead] >> 4),
                        static_cast<std::uint8_t>(message[kHead] & 0x0fu),
                        message.subspan(kHead + kFields, message[1] - kFields)};
  const bool last = out.part + 1 == out.parts;
  // The last part has some bytes, unless it is the only one; all others are full.
  if (sum_is_right(message) && out.parts >= 1 && out.parts <= kCarrierParts && out.part < out.parts &&
      out.bytes.size() <= kCarrierPart &&
      (last ? !out.bytes.empty() || out.parts == 1 : out.bytes.size() == kCarrierPart))
    return out;
  ++errors_;
  return CarriedPart{};
}

}  // namespace pqcmav
