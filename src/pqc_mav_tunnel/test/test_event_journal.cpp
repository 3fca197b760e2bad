// SPDX-License-Identifier: Apache-2.0
#include "console/event_journal.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pqcmav {
namespace {

Event line(int number) { return Event{1, "uav1", LogEvent{LogLevel::info, std::to_string(number)}}; }
std::string text_of(const Event& event) { return std::get<LogEvent>(event.what).text; }

TEST(EventJournal, GivesWhatCameSince) {
  EventJournal log;
  EXPECT_EQ(log.next(), 0u);
  EXPECT_TRUE(log.since(0).events.empty());
  log.take(line(0));
  log.take(line(1));
  const auto both = log.since(0), one = log.since(1), none = log.since(2);
  ASSERT_EQ(both.events.size(), 2u);
  EXPECT_EQ(text_of(both.events[0]), "0");
  EXPECT_EQ(both.next, 2u);
  ASSERT_EQ(one.events.size(), 1u);
  EXPECT_EQ(text_of(one.events[0]), "1");
  EXPECT_TRUE(none.events.empty());
  EXPECT_EQ(both.lost + one.lost + none.lost, 0u);
}

TEST(EventJournal, CountsWhatIsGone) {
  EventJournal log;
  for (int i = 0; i < 300; ++i) log.take(line(i));
  const auto batch = log.since(10);
  EXPECT_EQ(batch.events.size(), EventJournal::kEvents);
  EXPECT_EQ(batch.lost, 300 - EventJournal::kEvents - 10);
  EXPECT_EQ(text_of(batch.events.back()), "299");
}

TEST(EventJournal, HandshakesOutlastOtherEvents) {
  EventJournal log;
  log.take(Event{1, "uav1", HandshakeEvent{}});
  for (int i = 0; i < 300; ++i) log.take(line(i));
  EXPECT_EQ(log.handshakes("", 10).size(), 1u);
  EXPECT_EQ(log.handshakes("uav1", 10).size(), 1u);
  EXPECT_TRUE(log.handshakes("uav2", 10).empty());
}

TEST(EventJournal, CountsHandshakesThatItKeepsNoMore) {
  EventJournal log;
  HandshakeEvent event;
  event.ok = true;
  for (std::size_t i = 0; i < EventJournal::kHandshakes + 10; ++i) log.take(Event{1, "uav1", event});
  EXPECT_EQ(log.tally().of(HandshakeKind::first).counts[0], EventJournal::kHandshakes + 10);
}

}  // namespace
}  // namespace pqcmav
