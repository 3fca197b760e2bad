// SPDX-License-Identifier: Apache-2.0
// The datagrams that carry handshake messages outside a session, and the frames in them (docs/protocol.md section 5):
// reading, writing and their tag. No state here. What is parsed are views into the datagram it came from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "bytes.hpp"
#include "constants.hpp"
#include "crypto/secret.hpp"

namespace pqcmav {

/// Which end sent it.
enum class HandshakeSide : std::uint8_t { drone, gcs };
using AttemptId = ByteArray<8>;
using Cookie = ByteArray<kCookieSize>;

inline constexpr std::size_t kDatagramHeaderSize = 13;  // type, attempt, packet
inline constexpr std::size_t kDatagramTagSize = 8;
inline constexpr std::size_t kDatagramLeast = kDatagramHeaderSize + kDatagramTagSize;
inline constexpr std::size_t kFragmentHeaderSize = 9;
inline constexpr std::size_t kAckHeaderSize = 11;
inline constexpr std::size_t kAckBitmapMax = 32;
inline constexpr std::size_t kFragmentSizeLeast = 475, kFragmentSizeMost = 1150;  // of messages in several fragments

struct FragmentKeys {
  Secret<32> from_drone, from_gcs;
  [[nodiscard]] FragmentKeys clone() const noexcept { return {from_drone.clone(), from_gcs.clone()}; }
  [[nodiscard]] const Secret<32>& from(HandshakeSide side) const noexcept {
    return side == HandshakeSide::drone ? from_drone : from_gcs;
  }
};
FragmentKeys derive_fragment_keys(const Psk& psk, const AttemptId& attempt);

struct DatagramHeader {
  HandshakeSide from = HandshakeSide::drone;
  AttemptId attempt{};
  std::uint32_t packet = 0;
};
void append_handshake_header(Bytes& out, const DatagramHeader& header);
/// nullopt for another type, and below 21 or above 1,200 bytes.
std::optional<DatagramHeader> parse_handshake_header(ByteView datagram) noexcept;
/// The frames of a datagram whose header parsed.
inline ByteView frames_of(ByteView datagram) noexcept {
  return datagram.first(datagram.size() - kDatagramTagSize).subspan(kDatagramHeaderSize);
}

/// Is the tag right? In time that depends on the length alone.
bool tag_good(const Secret<32>& key, ByteView datagram);
void append_tag(const Secret<32>& key, Bytes& datagram);

struct Fragment {
  std::uint8_t message = 0;
  std::uint32_t total = 0;
  std::uint16_t size = 0, index = 0;
  ByteView bytes;
};
struct Ack {
  std::uint8_t message = 0;
  std::uint32_t echo = 0;
  std::uint16_t delay_ms = 0, base = 0;
  ByteView bitmap;
  /// Is that fragment here?
  [[nodiscard]] bool has(std::uint32_t index) const noexcept {
    if (index < base) return true;
    if (index == base) return false;
    const auto bit = index - base - 1;
    return bit / 8 < bitmap.size() && ((bitmap[bit / 8] >> (bit % 8)) & 1) != 0;
  }
};

/// What one datagram holds. Nothing useful needs more than three FRAGMENTs (two of 475 bytes and a short last one) or
/// more than two ACKs: more than four of either are refused.
struct Frames {
  static constexpr std::size_t kMost = 4;
  std::array<Fragment, kMost> fragments{};
  std::array<Ack, kMost> acks{};
  std::uint8_t fragment_count = 0, ack_count = 0;
  std::optional<Cookie> cookie;
};
/// Whose frames they are. A COOKIE is a drone's alone, and inside a session there is no PAD either.
enum class FramesOf : std::uint8_t { drone, gcs, session };
/// nullopt: no frame, one of an unknown type or over the end, a form that the page forbids, FRAGMENTs of different
/// messages, a second COOKIE or one without M1. Allocates nothing.
std::optional<Frames> parse_frames(ByteView frames, FramesOf of) noexcept;

void append_fragment_header(Bytes& out, const Fragment& fragment);  // its bytes follow
void append_ack(Bytes& out, const Ack& ack);
void append_cookie(Bytes& out, const Cookie& cookie);
/// Zeros up to `size` bytes of `out`; nothing if there are as many already.
void append_pad(Bytes& out, std::size_t size);

/// That message, if this datagram holds it whole as one fragment: how the gcs takes M1 before it keeps any state.
std::optional<ByteView> whole_message_of(const Frames& frames, std::uint8_t message) noexcept;

}  // namespace pqcmav
