// SPDX-License-Identifier: Apache-2.0
#include "session/compact_header.hpp"

#include <algorithm>
#include <deque>
#include <random>

#include "hex.hpp"
#include "session_fixture.hpp"

namespace pqcmav {
namespace {

using test::open;
using test::seal;

Bytes written(FrameType type, std::uint16_t index, std::uint16_t sequence) {
  const CompactHeader header{type, index, sequence};
  Bytes out(header.size() + kTagSize);
  write_compact_header(header, MutableBytes(out).first(header.size()));
  return out;
}

TEST(CompactHeader, HasTheWrittenForm) {
  const auto head = [](FrameType type, std::uint16_t index) {
    auto bytes = written(type, index, 0x1234);
    bytes.resize(bytes.size() - kTagSize);
    return bytes;
  };
  EXPECT_EQ(head(FrameType::data, 0), (Bytes{0x80, 0x00, 0x12, 0x34}));
  EXPECT_EQ(head(FrameType::control, 255), (Bytes{0xc0, 0xff, 0x12, 0x34}));
  EXPECT_EQ(head(FrameType::bundle, 256), (Bytes{0xb0, 0x01, 0x00, 0x12, 0x34}));
  EXPECT_EQ(head(FrameType::control, 65535), (Bytes{0xd0, 0xff, 0xff, 0x12, 0x34}));
}

TEST(CompactHeader, ComesBackAsItWas) {
  for (const auto type : {FrameType::data, FrameType::control, FrameType::bundle})
    for (const std::uint16_t index : {0, 1, 255, 256, 257, 65535})
      for (const std::uint16_t sequence : {0, 1, 0x00ff, 0xff00, 65535}) {
        const auto parsed = parse_compact_header(written(type, index, sequence));
        ASSERT_TRUE(parsed);
        EXPECT_EQ(parsed->type, type);
        EXPECT_EQ(parsed->index, index);
        EXPECT_EQ(parsed->sequence, sequence);
      }
}

TEST(CompactHeader, OtherFormsAreRefused) {
  const auto refused = [](Bytes bytes) { return !parse_compact_header(bytes); };
  for (int first = 0; first < 256; ++first) {
    Bytes bytes(40, 1);
    bytes[0] = static_cast<std::uint8_t>(first);
    const bool form = first >= 0x80 && (first & 0x0f) == 0 && (first & 0x60) != 0x60;
    EXPECT_EQ(refused(bytes), !form) << first;
  }
  auto narrow = written(FrameType::data, 256, 7);
  narrow[1] = 0;
  EXPECT_TRUE(refused(narrow)) << "an index below 256 in two bytes";
  for (const std::uint16_t index : {3, 300}) {
    auto cut = written(FrameType::data, index, 7);
    EXPECT_FALSE(refused(cut));
    cut.pop_back();
    EXPECT_TRUE(refused(cut)) << "no room for the tag";
  }
  EXPECT_TRUE(refused({}));
}

/// By the words of docs/protocol.md: every number with these bits is looked at.
std::uint64_t reference(std::uint16_t low, std::uint64_t next) {
  const auto distance = [next](std::uint64_t n) { return n > next ? n - next : next - n; };
  std::uint64_t best = low;
  const auto lap = next / 65536;
  for (std::uint64_t turn = lap == 0 ? 0 : lap - 1; turn <= lap + 1; ++turn) {
    const auto candidate = turn * 65536 + low;
    if (distance(candidate) <= distance(best)) best = candidate;  // the larger of two
  }
  return best;
}

TEST(CompactHeader, FindsTheNearestSequence) {
  EXPECT_EQ(full_sequence(0, 0), 0u);
  EXPECT_EQ(full_sequence(65535, 0), 65535u) << "none below zero";
  EXPECT_EQ(full_sequence(32768, 65536), 98304u) << "the larger of two";
  EXPECT_EQ(full_sequence(32769, 65536), 32769u);
  EXPECT_EQ(full_sequence(0, 65535), 65536u);
  EXPECT_EQ(full_sequence(65535, 65536), 65535u);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto next = random() >> (16 + random() % 48);
    const auto low = static_cast<std::uint16_t>(random());
    ASSERT_EQ(full_sequence(low, next), reference(low, next)) << low << " " << next;
  }
}

class CompactFrames : public ::testing::Test {
 protected:
  static constexpr std::uint16_t kIndex = 300;
  static SendKey sender(std::optional<std::uint16_t> index = kIndex) { return {suite(), id(), 5, key(), index}; }
  static ReceiveKey receiver() { return {suite(), id(), 5, key(), 1024, true}; }
  static const Suite& suite() { return require_suite("ML-512-AG-MD-44"); }
  static SessionId id() { return {1, 2, 3, 4, 5, 6, 7, 8}; }
  static const ByteArray<32>& key() {
    static const ByteArray<32> bytes{9};
    return bytes;
  }
  static Bytes sealed(SendKey& from, FrameType type, std::string_view text, bool long_form = false) {
    Bytes packet(kOverhead + text.size());
    std::copy(text.begin(), text.end(), packet.begin() + kHeaderSize);
    const auto out = from.seal(type, packet, long_form);
    EXPECT_TRUE(out);
    return {out->begin(), out->end()};
  }
  static ReceiveKey::Opened open(ReceiveKey& at, Bytes packet) {
    if (!is_compact(packet)) return at.open(parse_header(packet).value(), packet);
    const auto compact = parse_compact_header(packet).value();
    return at.open(at.header_of(compact), packet, compact.size());
  }
};

TEST_F(CompactFrames, StandForTheLongOnes) {
  auto compact = sender(), plain = sender(std::nullopt);
  for (const auto type : {FrameType::data, FrameType::control, FrameType::bundle})
    for (const auto* text : {"", "x", "forty bytes or so of a MAVLink message.."}) {
      const auto shorter = sealed(compact, type, text), longer = sealed(plain, type, text);
      EXPECT_EQ(shorter.size(), longer.size() - kHeaderSize + 5);
      EXPECT_TRUE(std::equal(shorter.begin() + 5, shorter.end(), longer.begin() + kHeaderSize, longer.end()))
          << "the same key, nonce and AAD: the same ciphertext and tag";
      // Whichever of the two comes first, the other is the same packet again.
      auto first = receiver(), second = receiver();
      EXPECT_FALSE(open(first, shorter).drop);
      EXPECT_EQ(open(first, longer).drop, Drop::replay);
      EXPECT_FALSE(open(second, longer).drop);
      EXPECT_EQ(open(second, shorter).drop, Drop::replay);
    }
}

TEST_F(CompactFrames, TakeTheLongFormWhereTheCountMightBeLost) {
  auto send = sender();
  const auto compact_next = [&] { return is_compact(sealed(send, FrameType::data, "")); };
  for (std::uint64_t n = 0; n < kCompactLag - 1; ++n) ASSERT_TRUE(compact_next()) << n;
  EXPECT_FALSE(compact_next()) << "nothing was reported: -1 counts";
  send.peer_has_seen(1'000'000);
  EXPECT_FALSE(compact_next()) << "more than was sent";
  send.peer_has_seen(1000);
  EXPECT_TRUE(compact_next());
  send.peer_has_seen(3);
  send.skip_to(1000 + kCompactLag - 1);
  EXPECT_TRUE(compact_next()) << "the highest report counts";
  EXPECT_FALSE(compact_next());
  EXPECT_FALSE(is_compact(sealed(send, FrameType::data, "")));
  send.peer_has_seen(1000 + kCompactLag);
  EXPECT_TRUE(compact_next());
  EXPECT_FALSE(is_compact(sealed(send, FrameType::data, "", true))) << "asked for";
}

TEST_F(CompactFrames, AreForgeriesWhenGuessedWrong) {
  auto send = sender();
  auto receive = receiver();
  EXPECT_FALSE(open(receive, sealed(send, FrameType::data, "")).drop);
  send.skip_to(40'000);
  send.peer_has_seen(39'999);
  EXPECT_EQ(open(receive, sealed(send, FrameType::data, "")).drop, std::nullopt) << "still below half a lap and more";
  send.skip_to(40'000 + 32'768 + 2);
  send.peer_has_seen(40'000 + 32'768 + 1);  // which is not so
  EXPECT_EQ(open(receive, sealed(send, FrameType::data, "")).drop, Drop::seq_old) << "taken for one of the lap before";
  send.skip_to(40'000 + 65'536);
  send.peer_has_seen(40'000 + 65'535);
  EXPECT_EQ(open(receive, sealed(send, FrameType::data, "")).drop, Drop::replay);
  send.skip_to(40'000 + 65'536 + 20'000);
  send.peer_has_seen(40'000 + 65'536 + 19'999);
  EXPECT_EQ(open(receive, sealed(send, FrameType::data, "")).drop, Drop::auth_fail);
  EXPECT_FALSE(open(receive, sealed(send, FrameType::data, "", true)).drop) << "a long one repairs the count";
  EXPECT_FALSE(open(receive, sealed(send, FrameType::data, "")).drop);
}

TEST_F(CompactFrames, BundlesWithoutTheirFeatureAreMalformed) {
  auto send = sender();
  ReceiveKey receive(suite(), id(), 5, key());
  EXPECT_EQ(open(receive, sealed(send, FrameType::bundle, "\x01x")).drop, Drop::malformed);
  EXPECT_EQ(open(receive, sealed(send, FrameType::bundle, "\x01x", true)).drop, Drop::malformed);
}

/// A link that loses in bursts, delays and overtakes, with reports that come late or never: what arrives always opens.
TEST_F(CompactFrames, KeepCountOverLossReorderingAndWraps) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    std::mt19937_64 random(seed);
    auto send = sender(static_cast<std::uint16_t>(seed % 2 == 0 ? 7 : 700));
    ReceiveKey receive(suite(), id(), 5, key(), 8192);
    send.skip_to(random() % 2 == 0 ? 0 : 65536 - random() % 3000);
    std::deque<std::pair<std::uint64_t, Bytes>> flying;  // when it arrives
    std::uint64_t opened = 0, dark_until = 0, last_report = 0;
    for (std::uint64_t now = 0; now < 60'000; ++now) {
      if (random() % 10'000 == 0) dark_until = now + random() % 20'000;
      auto packet = sealed(send, FrameType::data, "");
      if (now >= dark_until && random() % 10 != 0)
        flying.emplace_back(now + random() % 200 + (random() % 50 == 0 ? 1500 : 0), std::move(packet));
      for (auto it = flying.begin(); it != flying.end() && it->first <= now; it = flying.erase(it)) {
        const auto result = open(receive, std::move(it->second));
        ASSERT_FALSE(result.drop) << "seed " << seed << " at " << now;
        ++opened;
      }
      if (now - last_report > 1000 && now >= dark_until) {
        last_report = now;
        if (receive.next_expected() > 0 && random() % 4 != 0) send.peer_has_seen(receive.next_expected() - 1);
      }
    }
    EXPECT_GT(opened, 1000u);
  }
}

TEST(CompactSession, OldPendingAndCurrentKeysHaveTheirOwnIndex) {
  test::KeySource source(3);
  const auto pool = IndexPool::make(256, 0);
  Session drone(true, test::kTimers, 1024), gcs(false, test::kTimers, 1024);
  std::uint64_t now = 1000 * kS;
  std::vector<std::uint16_t> indices;
  const auto rekey = [&](std::uint8_t epoch) {
    auto keys = source.make(epoch);
    for (auto* each : {&keys.drone, &keys.gcs}) {
      each->features = features::kCompact;
      each->own_index = pool->take();
    }
    keys.drone.peer_index = *keys.gcs.own_index.value();
    keys.gcs.peer_index = *keys.drone.own_index.value();
    indices.push_back(keys.drone.peer_index);
    gcs.install(std::move(keys.gcs), now);
    drone.install(std::move(keys.drone), now);
  };
  const auto send = [&](Session& from) {
    Bytes packet(kOverhead + 1);
    const auto out = from.seal(FrameType::data, packet, now);
    return Bytes(out->begin(), out->end());
  };
  const auto take = [&](Session& at, Bytes packet) {
    const auto compact = parse_compact_header(packet).value();
    const auto header = at.header_of(compact);
    return header ? at.open(*header, packet, now, compact.size()).drop : std::optional(Drop::unknown);
  };
  rekey(0);
  EXPECT_FALSE(gcs.seen());
  EXPECT_EQ(take(gcs, send(drone)), std::nullopt);
  EXPECT_EQ(gcs.seen(), 0u);
  EXPECT_EQ(take(drone, send(gcs)), std::nullopt);
  const auto late_up = send(drone), late_down = send(gcs);
  rekey(1);
  const auto still_down = send(gcs);
  EXPECT_FALSE(drone.seen()) << "of the new key, under which nothing came";
  EXPECT_EQ(take(gcs, send(drone)), std::nullopt);
  EXPECT_EQ(take(gcs, late_up), std::nullopt);
  EXPECT_EQ(take(drone, late_down), std::nullopt);
  EXPECT_EQ(take(drone, still_down), std::nullopt);
  EXPECT_EQ(take(drone, send(gcs)), std::nullopt);
  now += 3 * kS;
  EXPECT_TRUE(gcs.tick(now));
  std::vector<std::uint16_t> held;
  gcs.for_each_receive_index([&](std::uint16_t index) { held.push_back(index); });
  EXPECT_EQ(held, std::vector{indices.back()});
  EXPECT_EQ(take(gcs, late_up), Drop::unknown) << "the old index is held no more";
  gcs.wipe();
  EXPECT_EQ(take(gcs, send(drone)), Drop::unknown);
}

}  // namespace
}  // namespace pqcmav
