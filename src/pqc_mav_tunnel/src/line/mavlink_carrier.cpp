// SPDX-License-Identifier: Apache-2.0
#include "line/mavlink_carrier.hpp"

#include "nanoseconds.hpp"
#include "route/x25.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kHead = 10, kType = 5, kPartHead = 3;  // of the message, of its payload before and with `line`
constexpr std::uint8_t kExtensionExtra = 8, kSystem = 51, kComponent = 191;
constexpr std::uint32_t kExtensionId = 248;
constexpr ByteArray<kType> kExtensionType{0x6d, 0xb4, 0, kSystem, kComponent};
constexpr std::uint8_t kEnd = 1;  // MAVLink cuts zeros off the end
constexpr std::uint64_t kPartsWithin = 1'000 * kMs;

std::uint16_t sum_of(ByteView checked) noexcept { return x25_add(x25(checked), kExtensionExtra); }

}  // namespace

std::size_t MavlinkCarrierWriter::write(LineAddress line, ByteView datagram, MutableBytes out) noexcept {
  const auto parts = std::max<std::size_t>(1, (datagram.size() + kCarrierPart - 1) / kCarrierPart);
  std::size_t used = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto rest = datagram.subspan(part * kCarrierPart);
    const auto bytes = rest.first(std::min(kCarrierPart, rest.size()));
    const auto payload = kType + kPartHead + bytes.size() + 1;
    const auto message = out.subspan(used, kHead + payload + 2);
    const ByteArray<kHead> head{0xfd,       static_cast<std::uint8_t>(payload),      0, 0, sequence_++, kSystem,
                                kComponent, static_cast<std::uint8_t>(kExtensionId), 0, 0};
    std::memcpy(message.data(), head.data(), kHead);
    std::memcpy(message.data() + kHead, kExtensionType.data(), kType);
    auto* const at = message.data() + kHead + kType;
    at[0] = line.byte();
    at[1] = number_;
    at[2] = static_cast<std::uint8_t>(part << 4 | parts);
    if (!bytes.empty()) std::memcpy(at + kPartHead, bytes.data(), bytes.size());
    at[kPartHead + bytes.size()] = kEnd;
    const auto sum = sum_of(message.subspan(1, kHead - 1 + payload));
    message[kHead + payload] = static_cast<std::uint8_t>(sum);
    message[kHead + payload + 1] = static_cast<std::uint8_t>(sum >> 8);
    used += message.size();
  }
  ++number_;
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

std::optional<MutableBytes> PartJoiner::take(LineAddress line, ByteView carried, std::uint64_t now) noexcept {
  const auto number = carried[0];
  const std::size_t part = carried[1] >> 4, parts = carried[1] & 0x0fu;
  const auto bytes = carried.subspan(2);
  auto& open = place_of(line);
  const bool follows = open.parts != 0 && open.line == line && open.number == number && open.parts == parts &&
                       open.next == part && now - open.since <= kPartsWithin;
  if (open.parts != 0 && !follows) ++errors_;  // the rest of that one did not come
  if (!follows) {
    open.parts = 0;
    if (part != 0) {
      ++errors_;
      return std::nullopt;
    }
    open.line = line;
    open.number = number;
    open.size = 0;
    open.since = now;
  }
  std::memcpy(open.bytes.data() + part * kCarrierPart, bytes.data(), bytes.size());
  open.size += bytes.size();
  open.parts = static_cast<std::uint8_t>(parts);
  open.next = static_cast<std::uint8_t>(part + 1);
  if (open.next < parts) return std::nullopt;
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

std::optional<ByteView> MavlinkCarrierReader::carried_by(ByteView message) noexcept {
  const bool ours = message[0] == 0xfd && message[2] == 0 && message[5] == kSystem && message[6] == kComponent &&
                    message[7] == kExtensionId && message[8] == 0 && message[9] == 0 && message[1] >= kType &&
                    std::equal(kExtensionType.begin(), kExtensionType.end(), message.begin() + kHead);
  if (!ours) return std::nullopt;
  const std::size_t payload = message[1];
  const auto sum = static_cast<std::uint16_t>(message[kHead + payload] | message[kHead + payload + 1] << 8);
  const auto carried = message.subspan(kHead + kType, payload - kType);
  bool good =
      sum == sum_of(message.subspan(1, kHead - 1 + payload)) && carried.size() > kPartHead && carried.back() == kEnd;
  if (good) {
    const std::size_t part = carried[2] >> 4, parts = carried[2] & 0x0fu, bytes = carried.size() - kPartHead - 1;
    const bool last = part + 1 == parts;
    // The last part has some bytes, unless it is the only one; all others are full.
    good = parts >= 1 && parts <= kCarrierParts && part < parts && bytes <= kCarrierPart &&
           (last ? bytes > 0 || parts == 1 : bytes == kCarrierPart);
  }
  if (good) return carried.first(carried.size() - 1);
  ++errors_;
  return ByteView{};
}

}  // namespace pqcmav
