// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/attempt_log.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

using std::chrono::seconds;

Event failure(const std::string& drone, const std::string& reason) {
  HandshakeEvent event;
  event.reason = reason;
  return Event{0, drone, event};
}

Event change(LinkState before, LinkState after) { return Event{0, "d1", StateEvent{before, after, ""}}; }

TEST(AttemptLog, OneReasonIsSaidOnceAndAgainEveryMinute) {
  AttemptLog log;
  const auto start = AttemptLog::Clock::now();
  int said = 0;
  for (int second = 0; second < 180; second += 2)
    said += log.worth_saying(failure("d1", "no such host"), start + seconds(second)) ? 1 : 0;
  EXPECT_EQ(said, 3);
  EXPECT_TRUE(log.worth_saying(failure("d1", "another"), start + seconds(180)));
  EXPECT_TRUE(log.worth_saying(failure("d2", "another"), start + seconds(180)));
}

TEST(AttemptLog, TheToAndFroOfAttemptsIsNotSaidAfterTheirFailure) {
  AttemptLog log;
  const auto now = AttemptLog::Clock::now();
  EXPECT_TRUE(log.worth_saying(change(LinkState::down, LinkState::handshaking), now));
  EXPECT_TRUE(log.worth_saying(failure("d1", "no such host"), now));
  EXPECT_FALSE(log.worth_saying(change(LinkState::handshaking, LinkState::down), now));
  EXPECT_FALSE(log.worth_saying(change(LinkState::down, LinkState::handshaking), now));
  EXPECT_TRUE(log.worth_saying(change(LinkState::handshaking, LinkState::up), now));
  HandshakeEvent good;
  good.ok = true;
  EXPECT_TRUE(log.worth_saying(Event{0, "d1", good}, now));
  EXPECT_TRUE(log.worth_saying(change(LinkState::down, LinkState::handshaking), now));
}

TEST(AttemptLog, AWarningIsRepeatedAfterAMinuteAndAnErrorAlwaysSaid) {
  AttemptLog log;
  const auto now = AttemptLog::Clock::now();
  const Event warning{0, "d1", LogEvent{LogLevel::warning, "no answer yet"}};
  const Event error{0, "d1", LogEvent{LogLevel::error, "broken"}};
  EXPECT_TRUE(log.worth_saying(warning, now));
  EXPECT_FALSE(log.worth_saying(warning, now + seconds(59)));
  EXPECT_TRUE(log.worth_saying(warning, now + seconds(60)));
  EXPECT_TRUE(log.worth_saying(error, now));
  EXPECT_TRUE(log.worth_saying(error, now));
}

}  // namespace
}  // namespace pqcmav
