// SPDX-License-Identifier: Apache-2.0
// Frames of any content: what parses must come back the same when it is written again. And both ends of a transport
// against a peer that sends anything at any time: nothing may be sent in excess, nothing complete that is not whole.
#include "fuzz_support.hpp"
#include "handshake/transport.hpp"
#include "nanoseconds.hpp"

using namespace pqcmav;

namespace {

constexpr std::size_t kHeaders = 28, kLimit = 5000;

void round_trip(ByteView input) {
  const auto frames = parse_frames(input, FramesOf::drone);
  if (!frames) return;
  Bytes written;
  for (std::size_t i = 0; i < frames->fragment_count; ++i) {
    append_fragment_header(written, frames->fragments[i]);
    append(written, frames->fragments[i].bytes);
  }
  for (std::size_t i = 0; i < frames->ack_count; ++i) append_ack(written, frames->acks[i]);
  if (frames->cookie) append_cookie(written, *frames->cookie);
  require(written.size() <= input.size());
  append_pad(written, 1);  // of nothing else
  const auto again = parse_frames(written, FramesOf::drone);
  require(again && again->fragment_count == frames->fragment_count && again->ack_count == frames->ack_count);
}

Bytes frame(std::uint8_t type, std::size_t size) {
  auto out = start_frame(static_cast<MessageType>(type), size - kFrameHeaderSize);
  out.resize(size, type);
  return out;
}

struct Peer {
  Transport transport;
  bool gcs, in_session;
  std::uint64_t now = 1'000 * kMs;
  std::array<std::uint64_t, Transport::kPaths + 1> received{}, sent{};

  Peer(bool as_gcs, bool session, bool ratchet)
      : transport({as_gcs ? HandshakeSide::gcs : HandshakeSide::drone, {}, session, as_gcs ? 100U : 0U, 1200, {}}, {}),
        gcs(as_gcs),
        in_session(session) {
    if (gcs) {
      transport.expect(
          {{ratchet ? MessageType::ratchet_hello : MessageType::client_hello, 10, ratchet ? 1700U : 500U}});
    } else if (ratchet) {
      transport.expect({{MessageType::ratchet_answer, 82, 1682}, {MessageType::reject, 1, 35}});
      transport.start(frame(5, 1263), now);
    } else {
      transport.expect({{MessageType::server_hello, 100, kLimit}, {MessageType::reject, 1, 35}});
      if (session)
        transport.start(frame(1, 330), now);
      else
        transport.start_hello(frame(1, 330), 4700, false, now);
    }
  }

  void hear(ByteView frames, std::uint32_t packet, PathIndex path) {
    Bytes datagram;
    if (in_session) {
      datagram.resize(8);
      append_be(datagram, packet);
    } else {
      append_handshake_header(datagram, {gcs ? HandshakeSide::drone : HandshakeSide::gcs, {}, packet});
    }
    append(datagram, frames);
    if (!in_session) datagram.resize(datagram.size() + kDatagramTagSize);
    if (datagram.size() > kDatagramLimit) return;
    received[path] += datagram.size() + kHeaders;
    transport.on_datagram(datagram, path, now);
    if (const auto whole = transport.take_message()) answer(*whole);
  }
  void answer(const Bytes& whole) {
    const auto type = whole[kFrameHeaderSize - 1];
    require(whole.size() <= kLimit + kFrameHeaderSize);
    require(load_be<std::uint32_t>(whole.data()) == whole.size() - kFrameHeaderSize);
    if (type == 1) transport.expect({{MessageType::client_finish, 10, kLimit}});
    if (type == 2) transport.expect({{MessageType::server_finish, 32, 32}});
    if (type == 1) transport.start(frame(2, 4578), now);
    if (type == 2) transport.start(frame(3, 1169), now);
    if (type == 3) transport.start(frame(4, 37), now);
    if (type == 5) transport.start(frame(6, 1207), now);
  }
  void talk() {
    for (std::size_t count = 0; const auto out = transport.poll(now); ++count) {
      require(count < 600 && out->path <= Transport::kElsewhere && out->datagram.size() <= kDatagramLimit);
      sent[out->path] += out->datagram.size() + kHeaders;
      if (gcs && !in_session && !(out->path < Transport::kPaths && transport.has_answered(out->path)))
        require(sent[out->path] <= 3 * received[out->path]);
      const auto frames = in_session ? ByteView(out->datagram).subspan(12) : frames_of(out->datagram);
      require(parse_frames(frames, in_session ? FramesOf::session : gcs ? FramesOf::gcs : FramesOf::drone).has_value());
    }
    require(transport.deadline() > now);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const bool gcs = data[0] & 1, in_session = data[0] & 2;
  ByteView input(data + 1, size - 1);
  round_trip(input);
  Peer peer(gcs, in_session, in_session && (data[0] & 4) != 0);
  peer.talk();
  // Each step: ms to wait, path, packet number, length, and that much of frames. With the top bit of the path set a
  // FRAGMENT's bytes are added to its header, so that reassembly is reached.
  while (input.size() >= 6) {
    peer.now += input[0] * kMs;
    const auto path = static_cast<PathIndex>(gcs && !in_session ? input[1] % (Transport::kPaths + 1) : 0);
    const auto packet = load_be<std::uint16_t>(input.data() + 2);
    const bool fill = input[1] & 0x80;
    const auto length = std::min<std::size_t>(load_be<std::uint16_t>(input.data() + 4) % 1180, input.size() - 6);
    Bytes frames(input.begin() + 6, input.begin() + 6 + static_cast<std::ptrdiff_t>(length));
    if (fill && length >= kFragmentHeaderSize) frames.resize(kFragmentHeaderSize + frames[5] * 256U + frames[6]);
    input = input.subspan(6 + length);
    peer.talk();
    peer.hear(frames, packet, path);
    peer.talk();
  }
  for (int i = 0; i < 40 && peer.transport.deadline() != Transport::kNever; ++i) {
    peer.now = peer.transport.deadline();
    peer.talk();
  }
  return 0;
}
