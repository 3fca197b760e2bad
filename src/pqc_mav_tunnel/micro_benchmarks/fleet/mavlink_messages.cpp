// SPDX-License-Identifier: Apache-2.0
#include "mavlink_messages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "route/x25.hpp"

namespace pqcmav::fleet {
namespace {

constexpr std::size_t kHead = 10, kChecksum = 2;
constexpr std::uint8_t kStart = 0xFD;
constexpr std::uint8_t kAutopilot = 1, kGroundSystem = 255, kGroundComponent = 190;
constexpr std::uint8_t kQuadrotor = 2, kGcsType = 6, kArduPilot = 3, kNoAutopilot = 8, kActive = 4, kMavlink = 3;

struct Kind {
  std::uint8_t id, length, extra;  // CRC_EXTRA
};
constexpr Kind kHeartbeat{0, 9, 50}, kAttitude{30, 28, 39};
static_assert(kHead + kAttitude.length + kChecksum == kAttitudeSize);
static_assert(kHead + kHeartbeat.length + kChecksum == kHeartbeatSize);

void store_le(std::uint8_t* out, std::uint32_t value) noexcept {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

std::uint32_t load_le(const std::uint8_t* in) noexcept {
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i) out |= std::uint32_t{in[i]} << (8 * i);
  return out;
}

std::uint16_t checksum(ByteView frame, const Kind& kind) noexcept {
  return x25_add(x25(frame.subspan(1, frame.size() - 1 - kChecksum)), kind.extra);
}

/// Returns the size of the frame.
std::size_t write_frame(std::uint8_t* out, const Kind& kind, std::uint8_t sequence, std::uint8_t system,
                        std::uint8_t component, const std::uint8_t* payload) noexcept {
  const std::size_t size = kHead + kind.length + kChecksum;
  const std::uint8_t head[kHead] = {kStart, kind.length, 0, 0, sequence, system, component, kind.id, 0, 0};
  std::memcpy(out, head, kHead);
  std::memcpy(out + kHead, payload, kind.length);
  const auto crc = checksum(ByteView(out, size), kind);
  out[size - 2] = static_cast<std::uint8_t>(crc);
  out[size - 1] = static_cast<std::uint8_t>(crc >> 8);
  return size;
}

/// Is it a frame of this kind and intact, whatever follows?
bool intact(ByteView datagram, const Kind& kind) noexcept {
  const std::size_t size = kHead + kind.length + kChecksum;
  if (datagram.size() < size || datagram[0] != kStart || datagram[1] != kind.length || datagram[7] != kind.id)
    return false;
  const auto crc = checksum(datagram.first(size), kind);
  return datagram[size - 2] == (crc & 0xff) && datagram[size - 1] == crc >> 8;
}

std::uint8_t system_of(std::uint32_t drone) noexcept { return static_cast<std::uint8_t>(1 + drone % 250); }

}  // namespace

ByteView write_message(MutableBytes out, std::size_t size, const MessageName& name) noexcept {
  const auto most = std::min({size, kMessageLargest, out.size()});
  std::array<std::uint8_t, 28> attitude{};
  store_le(attitude.data(), name.number);  // time_boot_ms
  store_le(attitude.data() + 4, std::bit_cast<std::uint32_t>(0.01f));
  store_le(attitude.data() + 8, std::bit_cast<std::uint32_t>(-0.02f));
  store_le(attitude.data() + 12, std::bit_cast<std::uint32_t>(static_cast<float>(name.drone)));  // yaw; exact to 2^24
  const std::array<std::uint8_t, 9> heartbeat{0, 0, 0, 0, kQuadrotor, kArduPilot, 0, kActive, kMavlink};
  auto sequence = static_cast<std::uint8_t>(2 * name.number);
  const auto system = system_of(name.drone);
  std::size_t used = write_frame(out.data(), kAttitude, sequence++, system, kAutopilot, attitude.data());
  if (used + kHeartbeatSize <= most)
    used += write_frame(out.data() + used, kHeartbeat, sequence++, system, kAutopilot, heartbeat.data());
  while (used + kAttitudeSize <= most)
    used += write_frame(out.data() + used, kAttitude, sequence++, system, kAutopilot, attitude.data());
  return out.first(used);
}

std::optional<MessageName> read_message(ByteView datagram) noexcept {
  if (!intact(datagram, kAttitude)) return std::nullopt;
  const auto yaw = std::bit_cast<float>(load_le(datagram.data() + kHead + 12));
  if (!(yaw >= 0 && yaw < 16'777'216.0f)) return std::nullopt;
  const MessageName out{static_cast<std::uint32_t>(yaw), load_le(datagram.data() + kHead)};
  return datagram[5] == system_of(out.drone) ? std::optional(out) : std::nullopt;
}

ByteView write_answer(MutableBytes out, std::uint8_t sequence, std::uint32_t drone) noexcept {
  std::array<std::uint8_t, 9> heartbeat{0, 0, 0, 0, kGcsType, kNoAutopilot, 0, kActive, kMavlink};
  store_le(heartbeat.data(), drone);
  return out.first(write_frame(out.data(), kHeartbeat, sequence, kGroundSystem, kGroundComponent, heartbeat.data()));
}

std::optional<std::uint32_t> read_answer(ByteView datagram) noexcept {
  if (!intact(datagram, kHeartbeat) || datagram[5] != kGroundSystem) return std::nullopt;
  return load_le(datagram.data() + kHead);
}

}  // namespace pqcmav::fleet
