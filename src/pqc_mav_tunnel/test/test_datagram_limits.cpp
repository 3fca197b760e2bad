// SPDX-License-Identifier: Apache-2.0
#include "handshake/datagram_limits.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

ByteArray<16> ipv4(std::uint32_t address) {
  ByteArray<16> out{};
  out[10] = out[11] = 0xff;
  store_be(out.data() + 12, address);
  return out;
}
ByteArray<16> ipv6(std::uint64_t network, std::uint64_t host) {
  ByteArray<16> out;
  store_be(out.data(), network);
  store_be(out.data() + 8, host);
  return out;
}

/// Who sends how many datagrams a second, evenly, for three seconds; which share of each was admitted.
struct Sender {
  ByteArray<16> address;
  double per_second;
  bool known = false;
  std::uint64_t sent = 0, admitted = 0;
  [[nodiscard]] double share() const { return static_cast<double>(admitted) / static_cast<double>(sent); }
};
std::uint64_t run(DatagramLimits& limits, std::vector<Sender>& senders, std::uint64_t from = 0, double seconds = 3) {
  std::mt19937 random(7);
  std::multimap<std::uint64_t, Sender*> due;
  for (auto& sender : senders) due.emplace(from + random() % kS / 10, &sender);
  std::uint64_t admitted = 0;
  while (!due.empty()) {
    const auto [now, sender] = *due.begin();
    due.erase(due.begin());
    if (now >= from + static_cast<std::uint64_t>(seconds * 1e9)) continue;
    const bool good = limits.admit(sender->address, sender->known, now);
    ++sender->sent;
    sender->admitted += good;
    admitted += good;
    due.emplace(now + static_cast<std::uint64_t>(1e9 / sender->per_second), sender);
  }
  return admitted;
}

TEST(DatagramLimits, LetsEverythingPassAtHalfTheLimit) {
  DatagramLimits limits(1);
  std::vector<Sender> senders;
  for (std::uint32_t i = 0; i < 200; ++i) senders.push_back({ipv4(i), 40});
  senders.push_back({ipv4(1000), 1500});
  run(limits, senders);
  for (const auto& sender : senders) EXPECT_EQ(sender.admitted, sender.sent);
}

TEST(DatagramLimits, NeverAdmitsMoreThanTheLimit) {
  for (const bool known : {false, true}) {
    DatagramLimits limits(2);
    std::vector<Sender> senders{{ipv4(1), 100'000, known}, {ipv4(2), 100'000, !known}};
    for (std::uint32_t i = 10; i < 200; ++i) senders.push_back({ipv4(i), 500, i % 2 == 0});
    const auto admitted = run(limits, senders);
    EXPECT_LE(admitted, 3u * 20'000 + 2000);
    EXPECT_GE(admitted, 3u * 20'000 * 9 / 10);
  }
}

TEST(DatagramLimits, AFewLoudNetworksTakeNothingFromTheQuiet) {
  DatagramLimits limits(3);
  std::vector<Sender> senders;
  for (std::uint32_t i = 0; i < 20; ++i) senders.push_back({ipv4(i), 20'000});  // 400,000/s
  for (std::uint32_t i = 0; i < 20; ++i) senders.push_back({ipv4(1000 + i), 10});
  run(limits, senders);
  std::uint64_t sent = 0, admitted = 0;
  for (std::size_t i = 20; i < senders.size(); ++i) {
    sent += senders[i].sent;
    admitted += senders[i].admitted;
  }
  // Not all: the window in which the flood begins, and buckets that a quiet one shares with a loud one.
  EXPECT_GE(static_cast<double>(admitted), 0.93 * static_cast<double>(sent));
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(senders[i].share(), 18'000.0 / 400'000, 0.02) << "equal shares";
}

TEST(DatagramLimits, OneFloodIsOneShareWhereverInItsNetworkItComesFrom) {
  DatagramLimits limits(4);
  std::vector<Sender> senders;
  for (std::uint64_t host = 0; host < 100; ++host) senders.push_back({ipv6(0x20010db800000001, host), 1000});
  for (std::uint64_t network = 0; network < 20; ++network)
    senders.push_back({ipv6(0x20010db800010000 + network, 1), 100});
  run(limits, senders);
  std::uint64_t sent = 0, admitted = 0;
  for (std::size_t i = 100; i < senders.size(); ++i) {
    sent += senders[i].sent;
    admitted += senders[i].admitted;
  }
  EXPECT_GE(static_cast<double>(admitted), 0.93 * static_cast<double>(sent));
}

TEST(DatagramLimits, BehindTheSameAddressAsAFloodChanceDecides) {
  DatagramLimits limits(5);
  std::vector<Sender> senders{{ipv4(1), 90'000}, {ipv4(1), 300}};
  run(limits, senders);
  // One in ten passes for both (one network gets half of it all at most), whoever comes first in a window.
  EXPECT_NEAR(senders[0].share(), 0.1, 0.02);
  EXPECT_NEAR(senders[1].share(), 0.1, 0.04);
}

TEST(DatagramLimits, ForgedSourcesLeaveEachStrangerTheSameChance) {
  DatagramLimits limits(6);
  std::mt19937 random(1);
  std::uint64_t sent = 0, admitted = 0;
  for (std::uint64_t i = 0; i < 3'000'000; ++i) {  // 100,000/s, each from another address
    const auto now = i * kS / 100'000;
    (void)limits.admit(ipv4(static_cast<std::uint32_t>(random())), false, now);
    if (i % 9700 != 0) continue;  // ten a second
    ++sent;
    admitted += limits.admit(ipv4(42), false, now);
  }
  EXPECT_NEAR(static_cast<double>(admitted) / static_cast<double>(sent), 0.16, 0.06);
}

TEST(DatagramLimits, AddressesOfAttemptsAndSessionsComeFirst) {
  DatagramLimits limits(7);
  std::vector<Sender> senders;
  for (std::uint32_t i = 0; i < 200; ++i) senders.push_back({ipv4(i), 1000});
  for (std::uint32_t i = 0; i < 64; ++i) senders.push_back({ipv4(1000 + i), 100, true});
  run(limits, senders);
  for (std::size_t i = 200; i < senders.size(); ++i) EXPECT_GE(senders[i].share(), 0.93) << i;
}

TEST(DatagramLimits, AFloodUnderAKnownAddressLeavesTheOthersTheirPart) {
  DatagramLimits limits(8);
  std::vector<Sender> senders{{ipv4(1), 100'000, true}, {ipv4(2), 100, true}};
  for (std::uint32_t i = 10; i < 20; ++i) senders.push_back({ipv4(i), 20});
  run(limits, senders);
  EXPECT_GE(senders[1].share(), 0.9);
  for (std::size_t i = 2; i < senders.size(); ++i) EXPECT_GE(senders[i].share(), 0.9) << i;
}

TEST(DatagramLimits, AFloodWithPausesDoesNotFindEverythingOpen) {
  DatagramLimits limits(9);
  std::uint64_t sent = 0, admitted = 0;
  for (std::uint64_t ms = 0; ms < 20'000; ++ms) {
    if (ms % 200 < 100)
      for (int i = 0; i < 100; ++i) (void)limits.admit(ipv4(1), false, ms * 1'000'000);
    ++sent;
    admitted += limits.admit(ipv4(2 + ms % 10), false, ms * 1'000'000);
  }
  EXPECT_GE(static_cast<double>(admitted), 0.97 * static_cast<double>(sent));
}

TEST(DatagramLimits, IsOpenAgainSoonAfterAFlood) {
  DatagramLimits limits(10);
  std::vector<Sender> flood{{ipv4(1), 200'000}, {ipv4(2), 200'000}};
  run(limits, flood, 0, 1);
  std::vector<Sender> after{{ipv4(1), 5000}};
  run(limits, after, 2 * kS);
  EXPECT_GE(after[0].share(), 0.99);
}

TEST(DatagramLimits, WorksWithTheSmallestLimit) {
  DatagramLimits limits(11, 0);
  std::uint64_t admitted = 0;
  for (std::uint64_t ms = 0; ms < 1000; ++ms) admitted += limits.admit(ipv4(1), ms % 2 == 0, ms * 1'000'000);
  EXPECT_GE(admitted, 1u);
  EXPECT_LE(admitted, 11u);
}

}  // namespace
}  // namespace pqcmav
