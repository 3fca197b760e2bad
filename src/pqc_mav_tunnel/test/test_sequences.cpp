// SPDX-License-Identifier: Apache-2.0
// Sequences of moves against both ends (sequence_player.hpp): those that fuzz_sequences begins with, and random ones. A
// violated property ends the process. PQCMAV_SEQUENCE=<file> plays one finding.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "sequence_player.hpp"

namespace pqcmav::test {
namespace {

TEST(Sequences, EachSeedGoesWell) {
  for (const auto& seed : SequencePlayer::seeds()) {
    SCOPED_TRACE(seed.name);
    const auto played = SequencePlayer::play(seed.moves);
    EXPECT_GE(played.handshakes, seed.handshakes);
    EXPECT_GE(played.ratchets, seed.ratchets);
    EXPECT_GE(played.delivered, 6u);
  }
}

TEST(Sequences, RandomOnesDo) {
  std::mt19937_64 random(1);
  SequencePlayer::Played all;
  for (int i = 0; i < 300; ++i) {
    Bytes moves(1 + random() % 600);
    for (auto& byte : moves) byte = static_cast<std::uint8_t>(random());
    const auto played = SequencePlayer::play(moves);
    all.handshakes += played.handshakes;
    all.ratchets += played.ratchets;
    all.datagrams += played.datagrams;
  }
  EXPECT_GT(all.handshakes, 400u);
  EXPECT_GT(all.ratchets, 5u);
  EXPECT_GT(all.datagrams, 10'000u);
}

TEST(Sequences, TheGivenOneDoes) {
  const auto* path = std::getenv("PQCMAV_SEQUENCE");
  if (path == nullptr) GTEST_SKIP();
  std::ifstream in(path, std::ios::binary);
  SequencePlayer::play(Bytes(std::istreambuf_iterator<char>(in), {}));
}

}  // namespace
}  // namespace pqcmav::test
