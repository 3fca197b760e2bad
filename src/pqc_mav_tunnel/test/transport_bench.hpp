// SPDX-License-Identifier: Apache-2.0
// One end of the transport, and a peer that the test plays by hand.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "handshake/fragment_layout.hpp"
#include "handshake/transport.hpp"
#include "transport_world.hpp"

namespace pqcmav::test {

struct Sent {
  PathIndex path;
  std::uint32_t packet;
  std::size_t size;
  Bytes datagram;
  Frames frames;  // views into `datagram`
  [[nodiscard]] int message() const { return frames.fragment_count > 0 ? frames.fragments[0].message : -1; }
  [[nodiscard]] int index() const { return frames.fragments[0].index; }
};

/// A transport and the other end's pen. Packet numbers of the peer go on by themselves.
struct Bench {
  explicit Bench(HandshakeSide side, std::optional<KnownLink> session = std::nullopt)
      : keys(derive_fragment_keys(world_psk(), kAttempt)),
        peer(side == HandshakeSide::drone ? HandshakeSide::gcs : HandshakeSide::drone),
        in_session(session.has_value()),
        end({side, kAttempt, in_session, side == HandshakeSide::gcs ? kFirstGcsPacket : 0, 1200,
             session.value_or(KnownLink{})},
            keys.clone()) {}

  Transport::Took hear(const Bytes& frames, PathIndex path = 0, std::optional<std::uint32_t> number = std::nullopt) {
    Bytes datagram;
    const DatagramHeader header{peer, kAttempt, number.value_or(packet)};
    if (!number) ++packet;
    append_handshake_header(datagram, header);
    if (in_session) datagram.erase(datagram.begin());
    append(datagram, frames);
    if (!in_session) append_tag(keys.from(peer), datagram);
    return end.on_datagram(datagram, path, now);
  }
  std::vector<Sent> poll() {
    std::vector<Sent> out;
    while (auto next = end.poll(now)) {
      const ByteView datagram(next->datagram);
      const auto side = peer == HandshakeSide::gcs ? HandshakeSide::drone : HandshakeSide::gcs;
      EXPECT_TRUE(in_session || tag_good(keys.from(side), datagram));
      const auto number = load_be<std::uint32_t>(datagram.data() + (in_session ? 8 : 9));
      out.push_back({next->path, number, datagram.size(), std::move(next->datagram), {}});
      const ByteView kept(out.back().datagram);
      out.back().frames = *parse_frames(in_session ? kept.subspan(12) : frames_of(kept),
                                        in_session ? FramesOf::session : FramesOf::drone);
    }
    EXPECT_GT(end.deadline(), now);
    return out;
  }
  std::vector<Sent> at(std::uint64_t ms) {
    now = begin + ms * kMs;
    return poll();
  }
  [[nodiscard]] std::uint64_t due_ms() const { return (end.deadline() - begin) / kMs; }

  static Bytes fragment(const Bytes& frame, std::uint16_t size, std::uint16_t index) {
    Bytes out;
    append_fragment_header(out, {frame[4], static_cast<std::uint32_t>(frame.size()), size, index, {}});
    const auto layout = FragmentLayout::of(static_cast<std::uint32_t>(frame.size()), size).value();
    append(out, ByteView(frame).subspan(layout.offset(index), layout.length(index)));
    return out;
  }
  static Bytes whole(const Bytes& frame) { return fragment(frame, static_cast<std::uint16_t>(frame.size()), 0); }
  static Bytes ack(std::uint8_t message, std::uint32_t echo, std::uint16_t base, ByteView bitmap = {},
                   std::uint16_t delay = 0) {
    Bytes out;
    append_ack(out, {message, echo, delay, base, bitmap});
    return out;
  }

  FragmentKeys keys;
  HandshakeSide peer;
  bool in_session;
  Transport end;
  std::uint32_t packet = 0;
  static constexpr std::uint64_t begin = 1'000'000 * kMs;
  std::uint64_t now = begin;
};

inline const Bytes& m1() {
  static const auto frame = made_up(MessageType::client_hello, 330);
  return frame;
}
inline const Bytes& m2() {
  static const auto frame = made_up(MessageType::server_hello, 4578);
  return frame;
}
inline const Bytes& m3() {
  static const auto frame = made_up(MessageType::client_finish, 1169);
  return frame;
}
inline const Bytes& m4() {
  static const auto frame = made_up(MessageType::server_finish, 37);
  return frame;
}
inline FrameLimits exactly(const Bytes& frame) {
  return {static_cast<MessageType>(frame[4]), frame.size() - 5, frame.size() - 5};
}

inline Bench drone_that_said_hello(bool proven = false) {
  Bench drone(HandshakeSide::drone);
  drone.end.expect({exactly(m2()), {MessageType::reject, 1, 35}});
  drone.end.start_hello(m1(), 4698, proven, drone.now);
  return drone;
}
/// A gcs that has M1 from path 0, padded so that all of M2 is paid for.
inline Bench gcs_with_m1(std::size_t padded = 1179) {
  Bench gcs(HandshakeSide::gcs);
  gcs.end.expect({exactly(m1())});
  auto hello = Bench::whole(m1());
  append_pad(hello, padded);
  EXPECT_EQ(gcs.hear(hello), Transport::Took::taken);
  EXPECT_EQ(gcs.end.take_message(), m1());
  EXPECT_FALSE(gcs.end.take_message());
  gcs.end.expect({exactly(m3())});
  return gcs;
}

/// A drone whose M3 is out, at 100 ms; M2 came in datagrams 0-3 at 50 ms.
inline Bench drone_with_m3(bool gap = false) {
  auto drone = drone_that_said_hello();
  drone.poll();
  drone.now += 50 * kMs;
  for (std::uint16_t i = 0; i < 4; ++i) {
    if (gap && i == 2) ++drone.packet;
    drone.hear(Bench::fragment(m2(), 1150, i));
  }
  EXPECT_EQ(drone.end.take_message(), m2());
  drone.end.expect({exactly(m4())});
  drone.now = drone.begin + 100 * kMs;
  drone.end.start(m3(), drone.now);
  return drone;
}

}  // namespace pqcmav::test
