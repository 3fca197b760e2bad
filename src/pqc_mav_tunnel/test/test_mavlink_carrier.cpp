// SPDX-License-Identifier: Apache-2.0
#include "line/mavlink_carrier.hpp"

#include <gtest/gtest.h>

#include <set>

#include "line_damage.hpp"
#include "mavlink_stream.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr LineAddress kUp{false, 0}, kDown{true, 5};
constexpr std::uint64_t kSecond = 1'000'000'000;

struct Writer {
  MavlinkCarrierWriter writer;
  Bytes operator()(LineAddress line, ByteView datagram) {
    Bytes out(kCarrierMost);
    out.resize(writer.write(line, datagram, out));
    return out;
  }
};

struct Reader {
  MavlinkCarrierReader reader;
  std::vector<std::pair<LineAddress, Bytes>> got;
  std::vector<Bytes> others;
  void feed(ByteView bytes, std::uint64_t now = 0) {
    reader.feed(
        bytes, now,
        [&](LineAddress line, ByteView datagram) { got.emplace_back(line, Bytes(datagram.begin(), datagram.end())); },
        [&](ByteView message) { others.emplace_back(message.begin(), message.end()); });
  }
};

/// The messages of a stream that has nothing else.
std::vector<Bytes> messages_of(ByteView stream) {
  std::vector<Bytes> out;
  for (; !stream.empty(); stream = stream.subspan(12u + stream[1])) {
    const auto one = stream.first(12u + stream[1]);
    out.emplace_back(one.begin(), one.end());
  }
  return out;
}

TEST(MavlinkCarrier, EverySizeComesThroughInAnyPieces) {
  std::mt19937 random(2);
  Writer write;
  Bytes stream;
  std::vector<Bytes> sent;
  for (const std::size_t size : {0ul, 1ul, 211ul, 212ul, 213ul, 424ul, 548ul, kLineDatagramMost}) {
    sent.push_back(random_bytes(random, size));
    sent.push_back(Bytes(size, 0));
    sent.push_back(Bytes(size, 0xfd));
  }
  for (const auto& each : sent) append(stream, write(kDown, each));
  for (const std::size_t piece : {1ul, 7ul, 300ul, stream.size()}) {
    Reader reader;
    for (ByteView rest = stream; !rest.empty(); rest = rest.subspan(std::min(piece, rest.size())))
      reader.feed(rest.first(std::min(piece, rest.size())));
    ASSERT_EQ(reader.got.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      ASSERT_EQ(reader.got[i].first, kDown);
      ASSERT_EQ(reader.got[i].second, sent[i]);
    }
    EXPECT_EQ(reader.reader.errors(), 0u);
    EXPECT_TRUE(reader.others.empty());
  }
}

TEST(MavlinkCarrier, MessagesAreWhatARadioTakes) {
  Writer write;
  for (const auto& message : messages_of(write(kUp, Bytes(548, 0)))) {
    EXPECT_LE(message[1], 221);             // SiK frames payloads up to 225 bytes
    EXPECT_NE(message[9 + message[1]], 0);  // nothing for MAVLink to cut off
  }
}

TEST(MavlinkCarrier, OtherMessagesGoElsewhere) {
  std::mt19937 random(4);
  Writer write;
  Reader reader;
  Bytes stream;
  for (int i = 0; i < 200; ++i) {
    append(stream, any_message(random));
    append(stream, write(kUp, random_bytes(random, random() % 600)));
  }
  reader.feed(stream);
  EXPECT_EQ(reader.got.size(), 200u);
  EXPECT_EQ(reader.others.size(), 200u);
  EXPECT_EQ(reader.reader.errors(), 0u);
}

TEST(MavlinkCarrier, OursWithAWrongFormAreCounted) {
  Writer write;
  const auto good = write(kUp, as_bytes("abc"));
  const auto changed = [&](std::size_t at, std::uint8_t to, std::uint8_t extra = 8) {
    auto message = good;
    message[at] = to;
    return summed(message, extra);
  };
  // No part, more parts than there can be, a part beyond them, no end; another message's checksum.
  for (const auto& bad :
       {changed(17, 0x00), changed(17, 0x08), changed(17, 0x11), changed(good.size() - 3, 0), changed(17, 0x01, 9)}) {
    Reader reader;
    reader.feed(bad);
    EXPECT_TRUE(reader.got.empty());
    EXPECT_EQ(reader.reader.errors(), 1u);
  }
  Reader reader;
  reader.feed(changed(10, 0x6c));  // another message_type: somebody else's
  EXPECT_EQ(reader.others.size(), 1u);
  EXPECT_EQ(reader.reader.errors(), 0u);
}

TEST(MavlinkCarrier, PartsThatDoNotFollowOneAnotherAreGivenUp) {
  Writer write;
  const Bytes long_one(600, 7);
  const auto a = messages_of(write(kUp, long_one)), b = messages_of(write(kUp, long_one));
  const auto errors_of = [](const std::vector<Bytes>& messages, std::uint64_t step, std::size_t& got) {
    Reader reader;
    std::uint64_t now = 0;
    for (const auto& each : messages) {
      reader.feed(each, now);
      now += step;
    }
    got = reader.got.size();
    return reader.reader.errors();
  };
  std::size_t got = 0;
  EXPECT_EQ(errors_of({a[0], a[1], a[2]}, kSecond / 2, got), 0u);
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
    sent.push_back(random_bytes(random, 900));
    Writer write;
    drones.push_back(messages_of(write({false, id}, sent.back())));
  }
  Reader reader;
  for (std::size_t part = 0; part < drones[0].size(); ++part)
    for (const auto& drone : drones) reader.feed(drone[part]);
  ASSERT_EQ(reader.got.size(), 8u);
  for (const auto& [line, datagram] : reader.got) EXPECT_EQ(datagram, sent[line.radio_id]);
  EXPECT_EQ(reader.reader.errors(), 0u);
}

TEST(MavlinkCarrier, MoreSendersThanPlacesCostTheOldestAlone) {
  Reader reader;
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

TEST(MavlinkCarrier, AfterACutNothingIsLeft) {
  Writer write;
  const auto messages = messages_of(write(kUp, Bytes(300, 1)));
  Reader reader;
  reader.feed(messages[0]);
  reader.feed(ByteView(messages[1]).first(20));
  reader.reader.reset();
  reader.feed(messages[1]);
  EXPECT_TRUE(reader.got.empty());
  reader.feed(write(kUp, as_bytes("x")));
  EXPECT_EQ(reader.got.size(), 1u);
}

TEST(MavlinkCarrier, DamageCostsTheMessagesItTouches) {
  for (const auto& damage : line_damages(0xfd)) {
    std::mt19937 random(3);
    Writer write;
    std::set<Bytes> sent;
    Bytes stream;
    for (int i = 0; i < 1200; ++i) {
      const auto datagram = random_bytes(random, std::array{50ul, 70ul, 110ul, 210ul}[random() % 4]);
      sent.insert(datagram);
      append(stream, write(kUp, datagram));
    }
    const auto places = damaged_places(random, stream.size(), 100);
    for (const auto at : places) damage.apply(stream, at, random);
    Reader reader;
    reader.feed(stream);
    auto lost = sent;
    for (const auto& [line, datagram] : reader.got) {
      ASSERT_TRUE(sent.contains(datagram)) << damage.what;
      lost.erase(datagram);
    }
    EXPECT_GE(lost.size(), places.size() / 2) << damage.what;
    EXPECT_LE(static_cast<double>(lost.size()), damage.frames_lost_most * static_cast<double>(places.size()))
        << damage.what;
  }
}

}  // namespace
}  // namespace pqcmav
