// SPDX-License-Identifier: Apache-2.0
#include "session/frame.hpp"

#include <algorithm>

#include "session/compact_header.hpp"

namespace pqcmav {

// Offsets of the header, docs/protocol.md section 10.
namespace at {
constexpr std::size_t kIds = 1, kSession = 5, kSequence = 13, kEpoch = 21;
}

std::optional<Header> parse_header(ByteView datagram) noexcept {
  if (datagram.size() < kOverhead) return std::nullopt;
  const std::uint8_t type = datagram[0] >> 4;
  if ((datagram[0] & 0x0f) != kVersion || type > static_cast<std::uint8_t>(FrameType::bundle)) return std::nullopt;
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

SendKey::SendKey(const Suite& suite, const SessionId& id, std::uint8_t epoch, std::span<const std::uint8_t, 32> key,
                 std::optional<std::uint16_t> peer_index, std::uint64_t packets_most)
    : header_{FrameType::data, suite.wire_ids(), id, 0, epoch},
      packets_most_(packets_most),
      peer_index_(peer_index),
      aead_(make_aead(suite.aead->id, key)) {}

/// Further ahead of what the peer has seen its count might not find this one.
bool SendKey::compact_allowed() const noexcept { return peer_index_ && next_ + 1 - seen_next_ < kCompactLag; }

std::optional<MutableBytes> SendKey::seal(FrameType type, MutableBytes packet, bool long_form) noexcept {
  if (packet.size() < kOverhead || spent()) return std::nullopt;
  const bool compact = !long_form && compact_allowed();
  header_.type = type;
  header_.sequence = next_++;
  ++packets_;
  const auto header = packet.first<kHeaderSize>();
  write_header(header_, header);
  if (!aead_->seal(header_.epoch, header_.sequence, header, packet.subspan(kHeaderSize, packet.size() - kOverhead),
                   packet.last<kTagSize>()))
    return std::nullopt;
  if (!compact) return packet;
  const CompactHeader shorter{type, *peer_index_, static_cast<std::uint16_t>(header_.sequence)};
  const auto out = packet.subspan(kHeaderSize - shorter.size());
  write_compact_header(shorter, out.first(shorter.size()));
  return out;
}

std::size_t SendKey::overhead() const noexcept {
  if (!compact_allowed()) return kOverhead;
  return CompactHeader{FrameType::data, *peer_index_, 0}.size() + kTagSize;
}

void SendKey::peer_has_seen(std::uint64_t sequence) noexcept {
  if (sequence < next_) seen_next_ = std::max(seen_next_, sequence + 1);
}

void SendKey::skip_to(std::uint64_t sequence) noexcept { next_ = std::max(next_, std::min(sequence, kSequenceLimit)); }

ReceiveKey::ReceiveKey(const Suite& suite, const SessionId& id, std::uint8_t epoch,
                       std::span<const std::uint8_t, 32> key, std::size_t window_bits, bool bundles,
                       const KeyLimits& limits)
    : id_(id),
      epoch_(epoch),
      ids_(suite.wire_ids()),
      bundles_(bundles),
      limits_(limits),
      window_(window_bits),
      tags_(window_bits),
      aead_(make_aead(suite.aead->id, key)) {}

Header ReceiveKey::header_of(const CompactHeader& compact) const noexcept {
  return {compact.type, ids_, id_, full_sequence(compact.sequence, window_.next_expected()), epoch_};
}

Aead::Open ReceiveKey::decrypt(const Header& header, MutableBytes packet, std::size_t head) noexcept {
  if (end() != KeyEnd::none) return Aead::Open::bad_tag;
  ByteArray<kHeaderSize> longer;
  ByteView authenticated = packet.first(head);
  if (head != kHeaderSize) {
    write_header(header, longer);
    authenticated = longer;
  }
  const auto opened = aead_->open(epoch_, header.sequence, authenticated,
                                  packet.subspan(head, packet.size() - head - kTagSize), packet.last<kTagSize>());
  if (opened == Aead::Open::bad_tag) ++used_.failed_tags;
  return opened;
}

namespace {

std::uint16_t tag_end(ByteView packet) noexcept {
  return load_be<std::uint16_t>(packet.data() + packet.size() - sizeof(std::uint16_t));
}

}  // namespace

/// Another packet under a number that was used. If its tag verifies, its maker has the key and counts anew: whatever is
/// sealed under it can be read, and forged. One such packet in 65,536 ends like the first, and is not looked at.
void ReceiveKey::judge_repeat(const Header& header, MutableBytes packet, std::size_t head) noexcept {
  if (tags_[header.sequence % tags_.size()] != tag_end(packet) && decrypt(header, packet, head) == Aead::Open::ok)
    used_twice_ = true;
}

bool ReceiveKey::is_repeat(const Header& header, MutableBytes packet, std::size_t head) noexcept {
  return packet.size() >= head + kTagSize && header.ids == ids_ &&
         window_.check(header.sequence) == ReplayWindow::Verdict::replay &&
         decrypt(header, packet, head) == Aead::Open::ok;
}

ReceiveKey::Opened ReceiveKey::open(const Header& header, MutableBytes packet, std::size_t head) noexcept {
  Opened result{.drop = std::nullopt, .type = header.type, .payload = {}, .behind = 0, .skipped = 0};
  const auto dropped = [&result](Drop reason) {
    result.drop = reason;
    return result;
  };
  if (packet.size() < head + kTagSize || header.ids != ids_) return dropped(Drop::malformed);
  if (header.type == FrameType::bundle && !bundles_) return dropped(Drop::malformed);
  switch (window_.check(header.sequence)) {
    case ReplayWindow::Verdict::old: return dropped(Drop::seq_old);
    case ReplayWindow::Verdict::replay: judge_repeat(header, packet, head); return dropped(Drop::replay);
    case ReplayWindow::Verdict::fresh: break;
  }
  const auto payload = packet.subspan(head, packet.size() - head - kTagSize);
  switch (decrypt(header, packet, head)) {
    case Aead::Open::bad_tag: return dropped(Drop::auth_fail);
    case Aead::Open::failed: return dropped(Drop::decrypt_fail);
    case Aead::Open::ok: break;
  }
  const auto expected = window_.next_expected();
  ++used_.packets;
  const bool newest = window_.accept(header.sequence);
  tags_[header.sequence % tags_.size()] = tag_end(packet);
  (newest ? result.skipped : result.behind) = newest ? header.sequence - expected : expected - 1 - header.sequence;
  result.payload = payload;
  return result;
}

}  // namespace pqcmav
