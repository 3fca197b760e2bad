// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "handshake/handshake.hpp"

namespace pqcmav {
namespace {

constexpr auto kLast = static_cast<int>(HandshakeError::cancelled);

TEST(HandshakeText, EveryErrorHasItsOwnNameAndSentence) {
  std::set<std::string> names, drone, gcs;
  for (int i = 0; i <= kLast; ++i) {
    const auto error = static_cast<HandshakeError>(i);
    names.insert(std::string(to_string(error)));
    for (const bool drone_side : {true, false}) {
      const auto sentence = describe(error, 0, drone_side);
      EXPECT_EQ(sentence.back(), '.') << sentence;
      EXPECT_EQ(sentence.find('\n'), std::string::npos);
      if (sentence.find("should not see it") == std::string::npos) (drone_side ? drone : gcs).insert(sentence);
    }
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLast) + 1);
  EXPECT_EQ(drone.size(), 13u);
  EXPECT_EQ(gcs.size(), 13u);
}

TEST(HandshakeText, RejectCodesAreExplainedOnBothSides) {
  std::set<std::string> sentences;
  for (int code = 1; code <= 5; ++code) {
    sentences.insert(describe(HandshakeError::rejected, static_cast<std::uint8_t>(code), true));
    sentences.insert(describe(HandshakeError::refused_locally, static_cast<std::uint8_t>(code), false));
    EXPECT_NE(to_string(static_cast<Reject>(code)), "invalid");
  }
  EXPECT_EQ(sentences.size(), 10u);
  EXPECT_EQ(to_string(static_cast<Reject>(0)), "invalid");
  EXPECT_NE(describe(HandshakeError::rejected, 99, true).find("does not know"), std::string::npos);
}

TEST(HandshakeText, ASilentGcsIsExplainedByItsLikelyCausesInOrder) {
  const auto sentence = describe(HandshakeError::timeout, 0, true);
  const auto runs = sentence.find("does not run"), port = sentence.find("UDP"), psk = sentence.find("PSK"),
             id = sentence.find("drone id"), slow = sentence.find("slow");
  EXPECT_LT(runs, port);
  EXPECT_LT(port, psk);
  EXPECT_LT(psk, id);
  EXPECT_LT(id, slow);
  EXPECT_NE(slow, std::string::npos);
}

TEST(HandshakeText, WrongKeysSayWhatToDo) {
  EXPECT_NE(describe(HandshakeError::bad_signature, 0, true).find("export"), std::string::npos);
  EXPECT_NE(describe(HandshakeError::bad_gate, 0, false).find("PSK"), std::string::npos);
  EXPECT_NE(describe(HandshakeError::unknown_drone, 0, false).find("provisioned"), std::string::npos);
  EXPECT_NE(describe(HandshakeError::other_gcs, 0, false).find("gcs_id"), std::string::npos);
  EXPECT_NE(describe(HandshakeError::bad_reject, 0, true).find("changed nothing"), std::string::npos);
}

}  // namespace
}  // namespace pqcmav
