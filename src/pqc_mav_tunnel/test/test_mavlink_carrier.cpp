// SPDX-License-Identifier: Apache-2.0
#include "line/mavlink_carrier.hpp"

#include <gtest/gtest.h>

#include "line_damage.hpp"
#include "mavlink_stream.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr LineAddress kUp{false, 0}, kDown{true, 5};

struct Writer {
  MavlinkCarrierWriter writer;
  Bytes operator()(LineAddress line, ByteView datagram) {
    Bytes out(kCarrierMost);
    out.resize(writer.write(line, datagram, out));
    return out;
  }
};

struct Carried {
  MavlinkCarrierReader reader;
  std::vector<std::pair<LineAddress, Bytes>> got;
  std::vector<Bytes> others;
  void feed(ByteView bytes, std::uint64_t now = 0) {
    reader.feed(
        bytes, now,
        [&](LineAddress line, ByteView datagram) { got.emplace_back(line, Bytes(datagram.begin(), datagram.end())); },
        [&](ByteView message) { others.emplace_back(message.begin(), message.end()); });
  }
  [[nodiscard]] std::uint64_t errors() const { return reader.errors(); }
};

/// The messages of a stream that has nothing else.
std::vector<Bytes> messages_of(ByteView stream) {
  std::vector<Bytes> out;
  for (; !stream.empty(); stream = stream.subspan(8u + stream[1])) {
    const auto one = stream.first(8u + stream[1]);
    out.emplace_back(one.begin(), one.end());
  }
  return out;
}

TEST(MavlinkCarrier, EverySizeComesThroughInAnyPieces) {
  Writer write;
  expect_every_size_in_any_pieces<Carried>({0, 1, 222, 223, 224, 446, 548, kLineDatagramMost}, 0xfe, kDown,
                                           [&](ByteView datagram) { return write(kDown, datagram); });
}

TEST(MavlinkCarrier, MessagesAreWhatARadioTakes) {
  Writer write;
  for (const auto& message : messages_of(write(kUp, Bytes(548, 0)))) EXPECT_LE(message[1], 225);  // of a SiK's framing
}

TEST(MavlinkCarrier, PartsFollowAcrossTheEndOfTheirNumbers) {
  Writer write;
  Carried reader;
  for (int i = 0; i < 300; ++i) reader.feed(write(kUp, Bytes(447, 0)));  // three parts: 256 is no multiple of that
  EXPECT_EQ(reader.got.size(), 300u);
  EXPECT_EQ(reader.errors(), 0u);
}

TEST(MavlinkCarrier, OtherMessagesGoElsewhere) {
  std::mt19937 random(4);
  Writer write;
  Carried reader;
  Bytes stream;
  for (int i = 0; i < 200; ++i) {
    append(stream, any_message(random));
    append(stream, write(kUp, any_bytes(random, random() % 600)));
  }
  reader.feed(stream);
  EXPECT_EQ(reader.got.size(), 200u);
  EXPECT_EQ(reader.others.size(), 200u);
  EXPECT_EQ(reader.errors(), 0u);
}

TEST(MavlinkCarrier, OursWithAWrongFormAreCounted) {
  Writer write;
  const auto good = write(kUp, as_bytes("abc"));
  const auto changed = [&](std::size_t at, std::uint8_t to, std::uint8_t extra = 223) {
    auto message = good;
    message[at] = to;
    return summed(message, extra);
  };
  // No part, more parts than there can be, a part beyond them, one that is not full; another message's checksum.
  for (const auto& bad :
       {changed(6, 0x00), changed(6, 0x08), changed(6, 0x11), changed(6, 0x02), changed(6, 0x01, 9)}) {
    Carried reader;
    reader.feed(bad);
    EXPECT_TRUE(reader.got.empty());
    EXPECT_EQ(reader.errors(), 1u);
  }
  Carried reader;
  for (const std::size_t at : {3, 4, 5}) reader.feed(changed(at, 1));  // of others, of another type
  EXPECT_EQ(reader.others.size(), 3u);
  EXPECT_EQ(reader.errors(), 0u);
}

TEST(MavlinkCarrier, PartsThatDoNotFollowOneAnotherAreGivenUp) {
  Writer write;
  const Bytes long_one(600, 7);
  const auto a = messages_of(write(kUp, long_one)), b = messages_of(write(kUp, long_one));
  const auto errors_of = [](const std::vector<Bytes>& messages, std::uint64_t step, std::size_t& got) {
    Carried reader;
    std::uint64_t now = 0;
    for (const auto& each : messages) {
      reader.feed(each, now);
      now += step;
    }
    got = reader.got.size();
    return reader.errors();
  };
  std::size_t got = 0;
  EXPECT_EQ(errors_of({a[0], a[1], a[2]}, kS / 2, got), 0u);
  EXPECT_EQ(got, 1u);
  EXPECT_EQ(errors_of({a[0], a[2]}, 0, got), 2u);  // the rest of it, and what does not follow
  EXPECT_EQ(got, 0u);
  EXPECT_EQ(errors_of({a[1], a[2], b[0], b[1], b[2]}, 0, got), 2u);
  EXPECT_EQ(got, 1u);
  EXPECT_EQ(errors_of({a[0], a[1], b[0], b[1], b[2]}, 0, got), 1u);
  EXPECT_EQ(got, 1u);
  EXPECT_EQ(errors_of({a[0], b[1], b[2]}, 0, got), 3u);  // of two datagrams
  EXPECT_EQ(got, 0u);
  EXPECT_GE(errors_of({a[0], a[1], a[2]}, 600'000'000, got), 1u);  // too late
  EXPECT_EQ(got, 0u);
}

TEST(MavlinkCarrier, DronesTakeTurnsBetweenParts) {
  std::vector<std::vector<Bytes>> drones;
  std::vector<Bytes> sent;
  std::mt19937 random(6);
  for (std::uint8_t id = 0; id < 8; ++id) {
    sent.push_back(any_bytes(random, 900));
    Writer write;
    drones.push_back(messages_of(write({false, id}, sent.back())));
  }
  Carried reader;
  for (std::size_t part = 0; part < drones[0].size(); ++part)
    for (const auto& drone : drones) reader.feed(drone[part]);
  ASSERT_EQ(reader.got.size(), 8u);
  for (const auto& [line, datagram] : reader.got) EXPECT_EQ(datagram, sent[line.radio_id]);
  EXPECT_EQ(reader.errors(), 0u);
}

TEST(MavlinkCarrier, MoreSendersThanPlacesCostTheOldestAlone) {
  Carried reader;
  std::vector<std::vector<Bytes>> drones;
  for (std::uint8_t id = 0; id < 9; ++id) {
    Writer write;
    drones.push_back(messages_of(write({false, id}, Bytes(300, id))));
    reader.feed(drones.back()[0], id);
  }
  for (std::uint8_t id = 1; id < 9; ++id) reader.feed(drones[id][1], 10);
  EXPECT_EQ(reader.got.size(), 8u);
  reader.feed(drones[0][1], 10);
  EXPECT_EQ(reader.got.size(), 8u);
}

TEST(MavlinkCarrier, AMessageMayPauseAsLongAsARadioWaitsForItsTurn) {
  Writer write;
  const Bytes datagram(548, 7);
  const auto stream = write(kUp, datagram);
  Carried reader;
  std::uint64_t now = 0;
  for (std::size_t at = 0; at < stream.size(); at += 120, now += 150 * kMs) {
    EXPECT_GT(reader.reader.due(), now);
    reader.feed(ByteView(stream).subspan(at, std::min<std::size_t>(120, stream.size() - at)), now);
  }
  ASSERT_EQ(reader.got.size(), 1u);
  EXPECT_EQ(reader.got[0].second, datagram);
}

TEST(MavlinkCarrier, AMessageDoesNotWaitForTheLostEndOfTheOneBefore) {
  for (const std::size_t kept : {1, 2, 6, 8, 100, 232}) {
    Writer write;
    Carried reader;
    reader.feed(ByteView(write(kUp, Bytes(223, 0xfe))).first(kept));
    reader.feed(write(kUp, as_bytes("a command")), kMs);
    ASSERT_EQ(reader.got.size(), 1u) << kept;
    EXPECT_TRUE(std::ranges::equal(reader.got[0].second, as_bytes("a command")));
    EXPECT_EQ(reader.reader.parts(), 1u);
  }
}

TEST(MavlinkCarrier, AfterACutNothingIsLeft) {
  Writer write;
  const auto messages = messages_of(write(kUp, Bytes(300, 1)));
  Carried reader;
  reader.feed(messages[0]);
  reader.feed(ByteView(messages[1]).first(20));
  reader.reader.reset();
  reader.feed(messages[1]);
  EXPECT_TRUE(reader.got.empty());
  reader.feed(write(kUp, as_bytes("x")));
  EXPECT_EQ(reader.got.size(), 1u);
}

TEST(MavlinkCarrier, DamageCostsTheMessagesItTouches) {
  Writer write;
  expect_damage_costs_what_it_touches<Carried>(0xfe, 0.0, [&](ByteView datagram) { return write(kUp, datagram); });
}

}  // namespace
}  // namespace pqcmav
