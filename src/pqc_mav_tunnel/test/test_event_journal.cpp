// SPDX-License-Identifier: Apache-2.0
#include "console/event_journal.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace pqcmav {
namespace {

Event line(int number) { return Event{1, "uav1", LogEvent{LogLevel::info, std::to_string(number)}}; }
std::string text_of(const std::shared_ptr<const Event>& event) { return std::get<LogEvent>(event->what).text; }

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
  EXPECT_EQ(log.oldest(), 0u);
}

TEST(EventJournal, CountsWhatIsGone) {
  EventJournal log;
  for (int i = 0; i < 2000; ++i) log.take(line(i));
  const auto batch = log.since(10);
  EXPECT_EQ(batch.events.size(), EventJournal::kEvents);
  EXPECT_EQ(text_of(batch.events.back()), "1999");
  EXPECT_EQ(log.oldest(), 2000 - EventJournal::kEvents);
  const auto piece = log.since(1990, 3);
  EXPECT_EQ(piece.next, 1993u);
  EXPECT_EQ(text_of(piece.events.back()), "1992");
  EXPECT_EQ(log.since(1'000'000).next, 2000u) << "a number that was never given";
}

TEST(EventJournal, KeepsWhatAMassReconnectTells) {
  EventJournal log;
  log.make_room(1000);
  for (int i = 0; i < 1000; ++i) {
    log.take(Event{1, "uav1", StateEvent{LinkState::up, LinkState::down, ""}});
    log.take(Event{1, "uav1", HandshakeEvent{}});
    log.take(Event{1, "uav1", StateEvent{LinkState::down, LinkState::up, ""}});
  }
  EXPECT_EQ(log.oldest(), 0u);
  EXPECT_EQ(log.handshakes("", 2000).size(), 1000u);
}

TEST(EventJournal, EachHasANameOfItsOwn) {
  const EventJournal one, other;
  EXPECT_EQ(one.boot().size(), 32u);
  EXPECT_NE(one.boot(), other.boot());
}

TEST(EventJournal, HandshakesOutlastOtherEvents) {
  EventJournal log;
  log.take(Event{1, "uav1", HandshakeEvent{}});
  for (std::size_t i = 0; i < EventJournal::kEvents; ++i) log.take(line(0));
  EXPECT_EQ(log.handshakes("", 10).size(), 1u);
  EXPECT_EQ(log.handshakes("uav1", 10).size(), 1u);
  EXPECT_TRUE(log.handshakes("uav2", 10).empty());
}

TEST(EventJournal, CountsHandshakesThatItKeepsNoMore) {
  EventJournal log;
  HandshakeEvent event;
  event.ok = true;
  for (std::size_t i = 0; i < EventJournal::kEvents + 10; ++i) log.take(Event{1, "uav1", event});
  EXPECT_EQ(log.tally().of(HandshakeKind::first).counts[0], EventJournal::kEvents + 10);
}

}  // namespace
}  // namespace pqcmav
