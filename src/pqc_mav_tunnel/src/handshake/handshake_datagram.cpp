// SPDX-License-Identifier: Apache-2.0
#include "handshake/handshake_datagram.hpp"

#include <algorithm>

#include "crypto/kdf.hpp"
#include "handshake/fragment_layout.hpp"

namespace pqcmav {
namespace {

constexpr std::string_view kFragmentLabel = "PQMAV/3 fragment";
constexpr std::uint8_t kFromDrone = 0x33, kFromGcs = 0x43;
constexpr std::uint8_t kPad = 0, kFragment = 1, kAck = 2, kCookie = 3;
constexpr std::uint8_t kM1 = 1;

ByteArray<kDatagramTagSize> tag_of(const Secret<32>& key, ByteView content) {
  const auto mac = hmac_sha256(key.view(), {content});
  ByteArray<kDatagramTagSize> tag;
  std::copy_n(mac.begin(), tag.size(), tag.begin());
  return tag;
}

bool read_fragment(ByteReader& in, Frames& out) noexcept {
  const auto head = in.take(kFragmentHeaderSize - 1);
  if (!head || out.fragment_count == Frames::kMost) return false;
  const auto* at = head->data();
  Fragment fragment;
  fragment.message = at[0];
  fragment.total = (std::uint32_t{at[1]} << 16) | load_be<std::uint16_t>(at + 2);
  fragment.size = load_be<std::uint16_t>(at + 4);
  fragment.index = load_be<std::uint16_t>(at + 6);
  const auto layout = FragmentLayout::of(fragment.total, fragment.size);
  if (!layout || fragment.index >= layout->all()) return false;
  const auto bytes = in.take(layout->length(fragment.index));
  if (!bytes || (out.fragment_count > 0 && out.fragments[0].message != fragment.message)) return false;
  fragment.bytes = *bytes;
  out.fragments[out.fragment_count++] = fragment;
  return true;
}

bool read_ack(ByteReader& in, Frames& out) noexcept {
  const auto head = in.take(kAckHeaderSize - 1);
  if (!head || out.ack_count == Frames::kMost) return false;
  const auto* at = head->data();
  if (at[9] > kAckBitmapMax) return false;
  const auto bitmap = in.take(at[9]);
  if (!bitmap) return false;
  out.acks[out.ack_count++] = {at[0], load_be<std::uint32_t>(at + 1), load_be<std::uint16_t>(at + 5),
                               load_be<std::uint16_t>(at + 7), *bitmap};
  return true;
}

bool read_cookie(ByteReader& in, Frames& out) noexcept {
  if (out.cookie) return false;
  return in.into(out.cookie.emplace());
}

bool only_zeros(ByteReader& in) noexcept {
  const auto rest = in.take(in.left());
  return std::all_of(rest->begin(), rest->end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

FragmentKeys derive_fragment_keys(const Psk& psk, const AttemptId& attempt) {
  Bytes info;
  append(info, as_bytes(kFragmentLabel));
  append(info, attempt);
  Secret<64> both;
  hkdf_expand(psk.view(), info, both.mut());
  return {Secret<32>(both.view().first<32>()), Secret<32>(both.view().last<32>())};
}

void append_handshake_header(Bytes& out, const DatagramHeader& header) {
  append_be(out, header.from == HandshakeSide::drone ? kFromDrone : kFromGcs);
  append(out, header.attempt);
  append_be(out, header.packet);
}

std::optional<DatagramHeader> parse_handshake_header(ByteView datagram) noexcept {
  if (datagram.size() < kDatagramLeast || datagram.size() > kDatagramLimit) return std::nullopt;
  if (datagram[0] != kFromDrone && datagram[0] != kFromGcs) return std::nullopt;
  DatagramHeader header;
  header.from = datagram[0] == kFromDrone ? HandshakeSide::drone : HandshakeSide::gcs;
  std::copy_n(datagram.begin() + 1, header.attempt.size(), header.attempt.begin());
  header.packet = load_be<std::uint32_t>(datagram.data() + 1 + header.attempt.size());
  return header;
}

bool tag_good(const Secret<32>& key, ByteView datagram) {
  if (datagram.size() < kDatagramTagSize) return false;
  const auto tag = tag_of(key, datagram.first(datagram.size() - kDatagramTagSize));
  return constant_time_equal(tag, datagram.last(kDatagramTagSize));
}

void append_tag(const Secret<32>& key, Bytes& datagram) { append(datagram, tag_of(key, datagram)); }

std::optional<Frames> parse_frames(ByteView frames, FramesOf of) noexcept {
  if (frames.empty()) return std::nullopt;
  Frames out;
  ByteReader in(frames);
  while (!in.empty()) {
    const auto type = *in.be<std::uint8_t>();
    const bool good = type == kPad        ? of != FramesOf::session && only_zeros(in)
                      : type == kFragment ? read_fragment(in, out)
                      : type == kAck      ? read_ack(in, out)
                      : type == kCookie   ? of == FramesOf::drone && read_cookie(in, out)
                                          : false;
    if (!good) return std::nullopt;
  }
  if (out.cookie && (out.fragment_count == 0 || out.fragments[0].message != kM1)) return std::nullopt;
  return out;
}

void append_fragment_header(Bytes& out, const Fragment& fragment) {
  append_be(out, kFragment);
  append_be(out, fragment.message);
  append_be(out, static_cast<std::uint8_t>(fragment.total >> 16));
  append_be(out, static_cast<std::uint16_t>(fragment.total));
  append_be(out, fragment.size);
  append_be(out, fragment.index);
}

void append_ack(Bytes& out, const Ack& ack) {
  append_be(out, kAck);
  append_be(out, ack.message);
  append_be(out, ack.echo);
  append_be(out, ack.delay_ms);
  append_be(out, ack.base);
  append_be(out, static_cast<std::uint8_t>(ack.bitmap.size()));
  append(out, ack.bitmap);
}

void append_cookie(Bytes& out, const Cookie& cookie) {
  append_be(out, kCookie);
  append(out, cookie);
}

void append_pad(Bytes& out, std::size_t size) {
  if (out.size() < size) out.resize(size, kPad);
}

std::optional<ByteView> whole_message_of(const Frames& frames, std::uint8_t message) noexcept {
  if (frames.fragment_count != 1) return std::nullopt;
  const auto& fragment = frames.fragments[0];
  if (fragment.message != message || fragment.bytes.size() != fragment.total) return std::nullopt;
  return fragment.bytes;
}

}  // namespace pqcmav
