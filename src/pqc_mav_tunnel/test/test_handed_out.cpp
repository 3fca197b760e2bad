// SPDX-License-Identifier: Apache-2.0
#include "control/handed_out.hpp"

#include <gtest/gtest.h>

#include "control/client_attempt.hpp"
#include "nanoseconds.hpp"
#include "net/handshake_port.hpp"

namespace pqcmav {
namespace {

SessionId session(std::uint8_t number) { return {number, 1, 2, 3, 4, 5, 6, 7}; }
RestartToken token(std::uint8_t number) { return {{number, 9, 8}}; }

Bytes restart(std::uint8_t of, std::uint8_t with) {
  Bytes out{kRestartType};
  const auto id = session(of);
  const auto shown = token(with).token;
  out.insert(out.end(), id.begin(), id.end());
  out.insert(out.end(), shown.begin(), shown.end());
  return out;
}

TEST(RestartTokens, TheTokenOfASessionIsTakenOnce) {
  RestartTokens tokens;
  tokens.know(session(1), token(1));
  const auto first = tokens.judge(restart(1, 1), 5 * kS);
  EXPECT_EQ(first.outcome, HandshakeDrop::taken);
  EXPECT_EQ(first.restarted, session(1));
  const auto again = tokens.judge(restart(1, 1), 35 * kS);
  EXPECT_EQ(again.outcome, HandshakeDrop::repeated);
  EXPECT_FALSE(again.restarted);
  EXPECT_EQ(tokens.judge(restart(1, 1), 35 * kS + 1).outcome, HandshakeDrop::unknown);
}

TEST(RestartTokens, OthersAreNot) {
  RestartTokens tokens;
  EXPECT_EQ(tokens.judge(restart(1, 1), kS).outcome, HandshakeDrop::unknown);
  tokens.know(session(1), token(1));
  EXPECT_EQ(tokens.judge(restart(1, 2), kS).outcome, HandshakeDrop::tag);
  EXPECT_EQ(tokens.judge(restart(2, 1), kS).outcome, HandshakeDrop::unknown);
  EXPECT_EQ(tokens.judge(ByteView(restart(1, 1)).first(24), kS).outcome, HandshakeDrop::malformed);
  EXPECT_TRUE(tokens.judge(restart(1, 1), kS).restarted);
}

TEST(RestartTokens, ANewTokenOfASessionReplacesTheOneBefore) {
  RestartTokens tokens;
  tokens.know(session(1), token(1));
  tokens.know(session(1), token(2));
  EXPECT_EQ(tokens.judge(restart(1, 1), kS).outcome, HandshakeDrop::tag);
  EXPECT_EQ(tokens.judge(restart(1, 2), kS).outcome, HandshakeDrop::taken);
}

TEST(RestartTokens, TheNewestFourAreKept) {
  RestartTokens tokens;
  for (std::uint8_t i = 1; i <= 5; ++i) tokens.know(session(i), token(i));
  EXPECT_EQ(tokens.judge(restart(1, 1), kS).outcome, HandshakeDrop::unknown);
  for (std::uint8_t i = 2; i <= 5; ++i) EXPECT_EQ(tokens.judge(restart(i, i), kS).outcome, HandshakeDrop::taken);
}

TEST(ReturnTicket, HasWhatTheGcsHandedOut) {
  const Bytes key(kReturnKeySize, 0x5a);
  const auto ticket = ticket_of({0x01020304, {11, 12, 13, 14, 15, 16, 17, 18}, key});
  EXPECT_EQ(ticket.prefix, (ByteArray<kReturnProofPrefix>{1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 17, 18}));
  EXPECT_TRUE(std::ranges::equal(ticket.key.view(), key));
}

}  // namespace
}  // namespace pqcmav
