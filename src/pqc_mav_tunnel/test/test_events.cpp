// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/events.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace pqcmav {
namespace {

using namespace std::chrono_literals;

std::string text_of(const Event& event) { return std::get<LogEvent>(event.what).text; }

TEST(Events, ComeOutInOrderWithTheirTime) {
  EventQueue queue(LogLevel::debug);
  for (int i = 0; i < 5; ++i) queue.log(LogLevel::info, "uav1", std::to_string(i));
  const auto first = queue.wait(0ns, 3), rest = queue.wait(0ns, 100);
  ASSERT_EQ(first.size(), 3u);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(text_of(first[0]), "0");
  EXPECT_EQ(text_of(rest[1]), "4");
  EXPECT_EQ(first[0].drone_id, "uav1");
  EXPECT_GT(first[0].monotonic_ns, 0u);
  EXPECT_LE(first[0].monotonic_ns, rest[1].monotonic_ns);
  EXPECT_TRUE(queue.wait(0ns, 100).empty());
}

TEST(Events, LinesBelowTheLevelAreLeftOut) {
  EventQueue queue(LogLevel::warning);
  for (const auto level : {LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error})
    queue.log(level, "", std::string(to_string(level)));
  queue.push(Event{0, "", StateEvent{LinkState::down, LinkState::up, "states always count"}});
  const auto events = queue.wait(0ns, 100);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(text_of(events[0]), "warning");
  EXPECT_EQ(text_of(events[1]), "error");
}

TEST(Events, WithoutAHostTheNewestAreKept) {
  EventQueue queue(LogLevel::debug);
  for (std::size_t i = 0; i < EventQueue::kCapacity + 100; ++i) queue.log(LogLevel::info, "", std::to_string(i));
  const auto events = queue.wait(0ns, 10000);
  ASSERT_EQ(events.size(), EventQueue::kCapacity);
  EXPECT_EQ(text_of(events.front()), "100");
  EXPECT_EQ(text_of(events.back()), std::to_string(EventQueue::kCapacity + 99));
}

TEST(Events, AWaiterIsWokenByAnEvent) {
  EventQueue queue(LogLevel::debug);
  std::vector<Event> got;
  std::thread waiter([&] { got = queue.wait(60s, 1); });
  queue.log(LogLevel::info, "", "wake");
  waiter.join();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(text_of(got[0]), "wake");
}

TEST(Events, ClosingWakesEveryWaiterAndLeavesWhatThereIs) {
  EventQueue queue(LogLevel::debug);
  EXPECT_FALSE(queue.closed());
  std::vector<std::thread> waiters;
  std::atomic<int> woken{0};
  for (int i = 0; i < 4; ++i)
    waiters.emplace_back([&] {
      EXPECT_TRUE(queue.wait(60s, 1).empty());
      ++woken;
    });
  queue.close();
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(woken, 4);
  EXPECT_TRUE(queue.closed());
  queue.log(LogLevel::info, "", "after the end");
  EXPECT_EQ(queue.wait(60s, 10).size(), 1u);
  EXPECT_TRUE(queue.wait(60s, 10).empty()) << "does not wait any more";
}

TEST(Events, ManyWritersAndReadersLoseNothing) {
  EventQueue queue(LogLevel::debug);
  constexpr int kWriters = 4, kEach = 200;  // together below the capacity
  std::atomic<int> read{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w)
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) queue.log(LogLevel::info, "", "x");
    });
  for (int r = 0; r < 3; ++r)
    threads.emplace_back([&] {
      while (read < kWriters * kEach) read += static_cast<int>(queue.wait(10ms, 16).size());
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(read, kWriters * kEach);
}

TEST(Events, Names) {
  EXPECT_EQ(to_string(LinkState::down), "DOWN");
  EXPECT_EQ(to_string(LinkState::handshaking), "HANDSHAKING");
  EXPECT_EQ(to_string(LinkState::up), "UP");
  EXPECT_EQ(to_string(LinkState::degraded), "DEGRADED");
  EXPECT_EQ(to_string(LinkState::rekeying), "REKEYING");
  EXPECT_EQ(to_string(LogLevel::debug), "debug");
}

}  // namespace
}  // namespace pqcmav
