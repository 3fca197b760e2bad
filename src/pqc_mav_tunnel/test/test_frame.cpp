// SPDX-License-Identifier: Apache-2.0
#include "session/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

namespace pqcmav {
namespace {

const SessionId kSession{1, 2, 3, 4, 5, 6, 7, 8};
constexpr std::uint8_t kEpoch = 9;

ByteArray<32> key() {
  ByteArray<32> out;
  std::iota(out.begin(), out.end(), std::uint8_t{40});
  return out;
}

class EveryAead : public ::testing::TestWithParam<std::string> {
 protected:
  const Suite& suite_ = *find_suite("cs-mlkem768-" + GetParam() + "-mldsa65");
  SendKey send_{suite_, kSession, kEpoch, key()};
  ReceiveKey receive_{suite_, kSession, kEpoch, key()};

  Bytes seal(std::string_view text, FrameType type = FrameType::data) {
    Bytes packet(kOverhead + text.size());
    std::copy(text.begin(), text.end(), packet.begin() + kHeaderSize);
    EXPECT_TRUE(send_.seal(type, packet));
    return packet;
  }
  /// Parses and opens a copy, as the data thread would after its session lookup.
  std::optional<Drop> open(Bytes packet, std::string* text = nullptr) {
    const auto header = parse_header(packet);
    if (!header) return Drop::malformed;
    const auto opened = receive_.open(*header, packet);
    if (!opened.drop && text != nullptr) *text = as_text(opened.payload);
    return opened.drop;
  }
};

TEST_P(EveryAead, RoundTripsOfEverySize) {
  std::mt19937 random(1);
  for (std::size_t size = 0; size <= 1600; size += size < 70 ? 1 : 97) {
    std::string text(size, 'x');
    for (auto& c : text) c = static_cast<char>(random());
    const auto type = size % 2 ? FrameType::control : FrameType::data;
    auto packet = seal(text, type);
    ASSERT_EQ(packet.size(), size + 38);
    const auto header = parse_header(packet);
    ASSERT_TRUE(header);
    const auto opened = receive_.open(*header, packet);
    ASSERT_FALSE(opened.drop) << size;
    EXPECT_EQ(opened.type, type);
    EXPECT_EQ(as_text(opened.payload), text);
    EXPECT_EQ(opened.payload.data(), packet.data() + kHeaderSize) << "in place";
  }
}

TEST_P(EveryAead, TheHeaderIsTheDocumentedOne) {
  (void)seal("a");
  const auto packet = seal("b", FrameType::control);
  EXPECT_EQ(Bytes(packet.begin(), packet.begin() + kHeaderSize),
            (Bytes{0x13, 1, 2, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 1, 9}));
  EXPECT_EQ(seal("c")[0], 0x03);
}

TEST_P(EveryAead, AFlipOfAnyBitIsDroppedForTheRightReason) {
  for (int i = 0; i < 3; ++i) ASSERT_FALSE(open(seal("warm")));
  const auto good = seal("attack at dawn");
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      auto bad = good;
      bad[at] ^= static_cast<std::uint8_t>(1 << bit);
      const auto header = parse_header(bad);
      if (at == 0 && bit != 4 && bit != 5) {  // the version, or a type that does not exist
        EXPECT_FALSE(header) << "bit " << bit;
        continue;
      }
      ASSERT_TRUE(header);
      if ((at >= 5 && at < 13) || at == 21) {  // session and epoch: the caller finds no session
        EXPECT_TRUE(header->session_id != kSession || header->epoch != kEpoch);
        continue;
      }
      auto expected = Drop::auth_fail;
      if ((at >= 1 && at < 5) || header->type == FrameType::bundle) expected = Drop::malformed;
      if (header->sequence >= kSequenceLimit) expected = Drop::seq_old;
      if (header->sequence < 3) expected = Drop::replay;
      EXPECT_EQ(open(bad), expected) << "byte " << at << " bit " << bit;
    }
  }
  EXPECT_EQ(receive_.next_expected(), 3u) << "no forgery may move the window";
  std::string text;
  EXPECT_FALSE(open(good, &text)) << "the genuine packet still passes";
  EXPECT_EQ(text, "attack at dawn");
}

TEST_P(EveryAead, ASessionOrEpochSwappedBehindTheLookupDoesNotVerify) {
  auto packet = seal("text");
  packet[7] ^= 1;
  EXPECT_EQ(open(packet), Drop::auth_fail);
  packet[7] ^= 1;
  packet[21] ^= 1;
  EXPECT_EQ(open(packet), Drop::auth_fail)
      << "the epoch is authenticated even though the key's own one makes the nonce";
}

TEST_P(EveryAead, EveryTruncationIsMalformedOrDoesNotVerify) {
  const auto good = seal("some payload");
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(open(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))),
              size < kOverhead ? Drop::malformed : Drop::auth_fail)
        << size;
  }
  auto longer = good;
  longer.push_back(0);
  EXPECT_EQ(open(longer), Drop::auth_fail);
  EXPECT_FALSE(open(good));
}

TEST_P(EveryAead, ReplaysAndReorderingWithinAndBeyondTheWindow) {
  std::vector<Bytes> packets;
  for (std::size_t i = 0; i < 2 * kWindowBits; ++i) packets.push_back(seal(std::to_string(i)));
  ASSERT_FALSE(open(packets[kWindowBits + 10]));
  EXPECT_EQ(open(packets[kWindowBits + 10]), Drop::replay);
  EXPECT_EQ(open(packets[10]), Drop::seq_old);
  ASSERT_FALSE(open(packets[11]));
  EXPECT_EQ(open(packets[11]), Drop::replay);
  auto late = packets[500];
  const auto opened = receive_.open(parse_header(late).value(), late);
  EXPECT_FALSE(opened.drop);
  EXPECT_EQ(opened.behind, kWindowBits + 10 - 500);
  std::vector<std::size_t> order(packets.size());
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(4);
  for (auto block = order.begin(); block != order.end(); block += 512) std::shuffle(block, block + 512, random);
  ReceiveKey fresh(suite_, kSession, kEpoch, key());
  for (const auto i : order) {
    auto packet = packets[i];
    EXPECT_FALSE(fresh.open(parse_header(packet).value(), packet).drop) << i;
  }
}

TEST_P(EveryAead, AForgedHighSequenceDoesNotMoveTheWindow) {
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(open(seal("x")));
  auto forged = seal("y");
  store_be(forged.data() + 13, kSequenceLimit - 1);
  EXPECT_EQ(open(forged), Drop::auth_fail);
  EXPECT_EQ(receive_.next_expected(), 10u);
  EXPECT_FALSE(open(seal("z")));
}

TEST_P(EveryAead, AnotherKeyEpochOrSessionDoesNotOpenIt) {
  const auto packet = seal("x");
  const auto header = parse_header(packet).value();
  auto other_key = key();
  other_key[3] ^= 1;
  ReceiveKey by_key(suite_, kSession, kEpoch, other_key);
  ReceiveKey by_epoch(suite_, kSession, kEpoch + 1, key());
  for (auto* receiver : {&by_key, &by_epoch}) {
    auto copy = packet;
    EXPECT_EQ(receiver->open(header, copy).drop, Drop::auth_fail);
  }
  ReceiveKey by_suite(*find_suite("cs-mlkem512-" + GetParam() + "-mldsa44"), kSession, kEpoch, key());
  auto copy = packet;
  EXPECT_EQ(by_suite.open(header, copy).drop, Drop::malformed);
}

TEST_P(EveryAead, TheSequenceEndsBeforeTheLimitAndNeverGoesBack) {
  send_.skip_to(kSequenceLimit - 2);
  send_.skip_to(5);
  EXPECT_EQ(send_.sealed(), kSequenceLimit - 2);
  EXPECT_FALSE(open(seal("last but one")));
  EXPECT_FALSE(open(seal("last")));
  Bytes packet(kOverhead);
  EXPECT_FALSE(send_.seal(FrameType::data, packet));
  EXPECT_FALSE(send_.seal(FrameType::control, packet));
  EXPECT_EQ(packet, Bytes(kOverhead)) << "nothing was written";
  send_.skip_to(~std::uint64_t{0});
  EXPECT_EQ(send_.sealed(), kSequenceLimit);
}

TEST_P(EveryAead, TooLittleRoomIsRefusedAndSpendsNoSequence) {
  Bytes packet(kOverhead - 1);
  EXPECT_FALSE(send_.seal(FrameType::data, packet));
  EXPECT_EQ(send_.sealed(), 0u);
}

TEST_P(EveryAead, APacketShorterThanItsHeaderSaysIsRefused) {
  auto packet = seal("x");
  const auto header = parse_header(packet).value();
  EXPECT_EQ(receive_.open(header, MutableBytes(packet).first(kOverhead - 1)).drop, Drop::malformed);
}

INSTANTIATE_TEST_SUITE_P(Aead, EveryAead, ::testing::Values("aesgcm", "chacha20poly1305", "ascon128a", "asconaead128"),
                         [](const auto& info) { return info.param; });

TEST(Frame, HeadersComeBackAsTheyWere) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 1000; ++round) {
    Header header{};
    header.type = random() % 2 ? FrameType::control : FrameType::data;
    for (auto& id : header.ids) id = static_cast<std::uint8_t>(random());
    for (auto& byte : header.session_id) byte = static_cast<std::uint8_t>(random());
    header.sequence = random();
    header.epoch = static_cast<std::uint8_t>(random());
    Bytes packet(kOverhead);
    write_header(header, MutableBytes(packet).first<kHeaderSize>());
    const auto parsed = parse_header(packet);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->type, header.type);
    EXPECT_EQ(parsed->ids, header.ids);
    EXPECT_EQ(parsed->session_id, header.session_id);
    EXPECT_EQ(parsed->sequence, header.sequence);
    EXPECT_EQ(parsed->epoch, header.epoch);
  }
}

TEST(Frame, OnlyThreeFirstBytesAreValid) {
  Bytes packet(kOverhead);
  for (int first = 0; first < 256; ++first) {
    packet[0] = static_cast<std::uint8_t>(first);
    EXPECT_EQ(parse_header(packet).has_value(), first == 0x03 || first == 0x13 || first == 0x23) << first;
  }
}

}  // namespace
}  // namespace pqcmav
