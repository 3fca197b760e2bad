// SPDX-License-Identifier: Apache-2.0
#include "session/frame.hpp"

#include <algorithm>

namespace pqcmav {

// Offsets of the header, docs/protocol.md section 5.
namespace at {
constexpr std::size_t kIds = 1, kSession = 5, kSequence = 13, kEpoch = 21;
}

std::optional<Header> parse_header(ByteView datagram) noexcept {
  if (datagram.size() < kOverhead) return std::nullopt;
  const std::uint8_t type = datagram[0] >> 4;
  if ((datagram[0] & 0x0f) != kVersion || type > static_cast<std::uint8_t>(FrameType::control)) return std::nullopt;
  Header header{};
  header.type = static_cast<FrameType>(type);
  std::memcpy(header.ids.data(), datagram.data() + at::kIds, header.ids.size());
  std::memcpy(header.session_id.data(), datagram.data() + at::kSession, header.session_id.size());
  header.sequence = load_be<std::uint64_t>(datagram.data() + at::kSequence);
  header.epoch = datagram[at::kEpoch];
  return header;
}

void write_header(const Header& header, std::span<std::uint8_t, kHeaderSize> out) noexcept {
  out[0] = static_cast<std::uint8_t>(static_cast<std::uint8_t>(header.type) << 4 | kVersion);
  std::memcpy(out.data() + at::kIds, header.ids.data(), header.ids.size());
  std::memcpy(out.data() + at::kSession, header.session_id.data(), header.session_id.size());
  store_be(out.data() + at::kSequence, header.sequence);
  out[at::kEpoch] = header.epoch;
}

namespace {
struct Parts {
  std::span<std::uint8_t, kHeaderSize> header;
  MutableBytes payload;
  std::span<std::uint8_t, kTagSize> tag;
};
Parts split(MutableBytes packet) noexcept {  // packet.size() >= kOverhead
  return {packet.first<kHeaderSize>(), packet.subspan(kHeaderSize, packet.size() - kOverhead), packet.last<kTagSize>()};
}
}  // namespace

SendKey::SendKey(const Suite& suite, const SessionId& id, std::uint8_t epoch, std::span<const std::uint8_t, 32> key)
    : header_{FrameType::data, suite.wire_ids(), id, 0, epoch}, aead_(make_aead(suite.aead->id, key)) {}

bool SendKey::seal(FrameType type, MutableBytes packet) noexcept {
  if (packet.size() < kOverhead || next_ >= kSequenceLimit) return false;
  header_.type = type;
  header_.sequence = next_++;
  const auto parts = split(packet);
  write_header(header_, parts.header);
  return aead_->seal(header_.epoch, header_.sequence, parts.header, parts.payload, parts.tag);
}

void SendKey::skip_to(std::uint64_t sequence) noexcept { next_ = std::max(next_, std::min(sequence, kSequenceLimit)); }

ReceiveKey::ReceiveKey(const Suite& suite, const SessionId& id, std::uint8_t epoch,
                       std::span<const std::uint8_t, 32> key, std::size_t window_bits)
    : id_(id), epoch_(epoch), ids_(suite.wire_ids()), window_(window_bits), aead_(make_aead(suite.aead->id, key)) {}

ReceiveKey::Opened ReceiveKey::open(const Header& header, MutableBytes packet) noexcept {
  Opened result{.drop = std::nullopt, .type = header.type, .payload = {}, .newest = false};
  const auto dropped = [&result](Drop reason) {
    result.drop = reason;
    return result;
  };
  if (packet.size() < kOverhead || header.ids != ids_) return dropped(Drop::malformed);
  switch (window_.check(header.sequence)) {
    case ReplayWindow::Verdict::old:
      return dropped(Drop::seq_old);
    case ReplayWindow::Verdict::replay:
      return dropped(Drop::replay);
    case ReplayWindow::Verdict::fresh:
      break;
  }
  const auto parts = split(packet);
  switch (aead_->open(epoch_, header.sequence, parts.header, parts.payload, parts.tag)) {
    case Aead::Open::bad_tag:
      return dropped(Drop::auth_fail);
    case Aead::Open::failed:
      return dropped(Drop::decrypt_fail);
    case Aead::Open::ok:
      break;
  }
  result.newest = window_.accept(header.sequence);
  result.payload = parts.payload;
  return result;
}

}  // namespace pqcmav
