// SPDX-License-Identifier: Apache-2.0
// Whole handshakes with messages of the suites' sizes over a simulated link: how long they take at the worst links, and
// that nothing a link does keeps them from ending. Times are simulated and seeds fixed.
#include <gtest/gtest.h>

#include "transport_world.hpp"

namespace pqcmav::test {
namespace {

struct Times {
  double median = 0, p95 = 0;
};

enum class Kind { first, rekey, informed_rekey };

Times connect(const MessageSizes& sizes, const LinkTerms& link, std::size_t runs, Kind kind = Kind::first) {
  std::vector<double> seconds;
  for (std::size_t seed = 0; seed < runs; ++seed) {
    WorldTerms terms;
    terms.sizes = sizes;
    terms.up = terms.down = link;
    terms.seed = 90'000 + seed;
    terms.in_session = kind != Kind::first;
    if (kind == Kind::informed_rekey) learn(terms);
    TransportWorld world(terms);
    EXPECT_TRUE(world.run()) << "seed " << seed;
    EXPECT_EQ(world.complaint(), "") << "seed " << seed;
    seconds.push_back(world.seconds());
  }
  std::sort(seconds.begin(), seconds.end());
  return {seconds[runs / 2], seconds[(runs * 95 + 99) / 100 - 1]};
}

LinkTerms link(double loss, std::uint64_t round_trip_ms = 100, double kbit = 10'000, bool bursts = false) {
  LinkTerms out;
  out.loss = loss;
  out.bursts = bursts;
  out.round_trip = round_trip_ms * kMs;
  out.bits_per_second = kbit * 1000;
  return out;
}

TEST(TransportLink, TwoRoundTripsWithoutLoss) {
  const auto times = connect(kDefaultSizes, link(0), 5);
  EXPECT_LT(times.p95, 0.24);
  EXPECT_GT(times.p95, 0.20);
  EXPECT_LT(connect(kDefaultSizes, link(0, 20), 5).p95, 0.08);
}

TEST(TransportLink, DefaultSuiteAtTenPercent) { EXPECT_LE(connect(kDefaultSizes, link(0.1), 500).p95, 0.5); }
TEST(TransportLink, DefaultSuiteAtThirtyPercent) {
  const auto times = connect(kDefaultSizes, link(0.3), 1000);
  EXPECT_LE(times.p95, 1.0);
  EXPECT_LE(times.median, 0.5);
}
TEST(TransportLink, DefaultSuiteInBursts) {
  EXPECT_LE(connect(kDefaultSizes, link(0.3, 100, 10'000, true), 1000).p95, 1.8);
}
TEST(TransportLink, DefaultSuiteOn64Kbit) { EXPECT_LE(connect(kDefaultSizes, link(0.3, 100, 64), 1000).p95, 3.3); }
TEST(TransportLink, DefaultSuiteAt20Ms) { EXPECT_LE(connect(kDefaultSizes, link(0.3, 20), 1000).p95, 0.5); }
TEST(TransportLink, FalconAtThirtyPercent) { EXPECT_LE(connect(kFalconSuite, link(0.3), 500).p95, 1.1); }
TEST(TransportLink, McElieceAtThirtyPercent) { EXPECT_LE(connect(kMcElieceSuite, link(0.3), 100).p95, 4.5); }
TEST(TransportLink, SphincsAtThirtyPercent) { EXPECT_LE(connect(kSphincsSuite, link(0.3), 100).p95, 2.8); }

TEST(TransportLink, RekeyThatKnowsNothing) {
  EXPECT_LT(connect(kDefaultSizes, link(0), 5, Kind::rekey).p95, 0.5);
  EXPECT_LE(connect(kDefaultSizes, link(0.2), 500, Kind::rekey).p95, 1.2);
  EXPECT_LE(connect(kDefaultSizes, link(0.3, 100, 64), 200, Kind::rekey).p95, 4.5);
}

TEST(TransportLink, RekeyThatKnowsItsLink) {
  EXPECT_LT(connect(kDefaultSizes, link(0), 5, Kind::informed_rekey).p95, 0.26);
  EXPECT_LE(connect(kDefaultSizes, link(0.2), 1000, Kind::informed_rekey).p95, 0.7);
  EXPECT_LE(connect(kDefaultSizes, link(0.3, 100, 10'000, true), 1000, Kind::informed_rekey).p95, 1.6);
  EXPECT_LE(connect(kDefaultSizes, link(0.2, 20), 500, Kind::informed_rekey).p95, 0.3);
}

TEST(TransportLink, AThinLinkLosesNothingByWhatARekeyKnows) {
  for (const double loss : {0.0, 0.2, 0.3}) {
    const auto thin = link(loss, 100, 64);
    EXPECT_LE(connect(kDefaultSizes, thin, 1000, Kind::informed_rekey).p95,
              1.1 * connect(kDefaultSizes, thin, 1000, Kind::rekey).p95)
        << loss;
  }
}

// A SiK radio at 57,600 baud carries some 40 kbit/s, with a round trip of 250 ms.
WorldTerms by_radio(std::uint64_t seed, double loss) {
  WorldTerms terms;
  terms.up = terms.down = link(loss, 250, 40, true);
  terms.seed = seed;
  terms.datagram_limit = 548;
  terms.wire_ns = 96 * kMs;
  return terms;
}

TEST(TransportLink, DefaultSuiteByRadio) {
  std::vector<double> seconds;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    TransportWorld world(by_radio(seed, 0.05));
    ASSERT_TRUE(world.run()) << "seed " << seed;
    EXPECT_EQ(world.complaint(), "") << "seed " << seed;
    seconds.push_back(world.seconds());
  }
  std::sort(seconds.begin(), seconds.end());
  EXPECT_LE(seconds[250], 2.3);
  EXPECT_LE(seconds[475], 3.6);
}

TEST(TransportLink, NothingGoesTwiceByAGoodRadio) {
  TransportWorld world(by_radio(1, 0));
  ASSERT_TRUE(world.run());
  EXPECT_LE(world.sent(false), 10U + 4 + 1);     // M2, ACKs of M3, M4
  EXPECT_LE(world.sent(true), 2U + 11 + 3 + 1);  // M1, ACKs of M2, M3
  EXPECT_EQ(world.gcs()->counts().timeouts, 0u);
  EXPECT_EQ(world.drone().counts().timeouts, 0u);
}

TEST(TransportLink, ReturnProofNeedsNoPadding) {
  WorldTerms terms;
  terms.proven = true;
  TransportWorld world(terms);
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.complaint(), "");
}

// Messages that are small enough for thousands of seeds, and a link that does everything at once.
TEST(TransportLink, RandomSchedules) {
  constexpr MessageSizes kSmall{"small", 200, 2400, 700, 37, 1 * kMs, 1 * kMs};
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    WorldTerms terms;
    terms.sizes = kSmall;
    terms.seed = seed;
    terms.in_session = false;
    terms.datagram_limit = seed % 3 == 0 ? 548 : 1200;
    std::mt19937_64 random(seed);
    const auto share = [&random](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
    for (auto* way : {&terms.up, &terms.down}) {
      way->loss = share(0.4);
      way->bursts = random() % 2 == 0;
      way->round_trip = (1 + random() % 300) * kMs;
      way->bits_per_second = random() % 2 == 0 ? 64e3 : 10e6;
      way->reordered = share(0.3);
      way->doubled = share(0.2);
      way->bent = share(0.1);
    }
    TransportWorld world(terms);
    ASSERT_TRUE(world.run()) << seed;
    ASSERT_EQ(world.complaint(), "") << seed;
    ASSERT_LT(world.seconds(), 60) << seed;
    ASSERT_EQ(world.messages(true, MessageType::server_hello), 1) << seed;
    ASSERT_EQ(world.messages(false, MessageType::client_finish), 1) << seed;
  }
}

// --- One datagram at a time -------------------------------------------------------------------------------------

constexpr MessageSizes kShort{"short", 300, 3600, 1500, 37, 2 * kMs, 2 * kMs};
constexpr std::size_t kEachWay = 14;  // more than a handshake without loss takes

/// Runs with one datagram changed, for each of both directions. Returns the longest time.
double one_at_a_time(const std::function<std::vector<Fate>(const Bytes&)>& change) {
  double worst = 0;
  for (const bool way : {true, false}) {
    for (std::size_t which = 0; which < kEachWay; ++which) {
      WorldTerms terms;
      terms.sizes = kShort;
      terms.fates = [&](bool up, std::size_t nth, const Bytes& datagram) {
        if (up == way && nth == which) return change(datagram);
        return std::vector<Fate>{{0, datagram}};
      };
      TransportWorld world(terms);
      EXPECT_TRUE(world.run()) << way << " " << which;
      EXPECT_EQ(world.complaint(), "") << way << " " << which;
      EXPECT_EQ(world.messages(false, MessageType::client_hello), 1);
      EXPECT_EQ(world.messages(true, MessageType::server_hello), 1);
      EXPECT_EQ(world.messages(false, MessageType::client_finish), 1);
      worst = std::max(worst, world.seconds());
    }
  }
  return worst;
}

TEST(TransportLink, EachDatagramLost) {
  EXPECT_LT(one_at_a_time([](const Bytes&) { return std::vector<Fate>{}; }), 0.45);
}
TEST(TransportLink, EachDatagramTwice) {
  EXPECT_LT(one_at_a_time([](const Bytes& one) { return std::vector<Fate>{{0, one}, {0, one}}; }), 0.26);
}
TEST(TransportLink, EachDatagramLate) {
  EXPECT_LT(one_at_a_time([](const Bytes& one) { return std::vector<Fate>{{70 * kMs, one}}; }), 0.40);
}
TEST(TransportLink, EachDatagramComesAgainLater) {
  EXPECT_LT(one_at_a_time([](const Bytes& one) { return std::vector<Fate>{{0, one}, {120 * kMs, one}}; }), 0.26);
}

TEST(TransportLink, EachDatagramSwappedWithItsNeighbour) {
  for (const bool way : {true, false}) {
    for (std::size_t which = 0; which < kEachWay; ++which) {
      WorldTerms terms;
      terms.sizes = kShort;
      Bytes held;
      terms.fates = [&](bool up, std::size_t nth, const Bytes& datagram) {
        if (up == way && nth == which) return held = datagram, std::vector<Fate>{};
        if (up == way && nth == which + 1) return std::vector<Fate>{{0, datagram}, {0, held}};
        return std::vector<Fate>{{0, datagram}};
      };
      TransportWorld world(terms);
      ASSERT_TRUE(world.run()) << way << " " << which;
      EXPECT_EQ(world.complaint(), "");
      EXPECT_LT(world.seconds(), 0.45) << way << " " << which;
    }
  }
}

TEST(TransportLink, EveryByteOfEveryDatagramFlipped) {
  for (const bool way : {true, false}) {
    for (std::size_t which = 0; which < kEachWay; ++which) {
      WorldTerms terms;
      terms.sizes = kShort;
      std::size_t copies = 0;
      terms.fates = [&](bool up, std::size_t nth, const Bytes& datagram) {
        std::vector<Fate> fates;
        if (up == way && nth == which) {
          // Each bent copy comes before the true one.
          for (std::size_t at = 0; at < datagram.size(); ++at) {
            auto bent = datagram;
            bent[at] ^= static_cast<std::uint8_t>(1U << at % 8);
            fates.push_back({0, std::move(bent)});
          }
          copies = fates.size();
        }
        fates.push_back({0, datagram});
        return fates;
      };
      terms.up.bits_per_second = terms.down.bits_per_second = 1e12;
      TransportWorld world(terms);
      ASSERT_TRUE(world.run()) << way << " " << which;
      world.idle(500 * kMs);
      EXPECT_EQ(world.complaint(), "");
      // Flipped header bytes fail the tag as well.
      EXPECT_EQ(world.bad_tags(), copies) << way << " " << which;
      EXPECT_LT(world.seconds(), 0.26);
    }
  }
}

// --- Paths ---------------------------------------------------------------------------------------------------------

TEST(TransportLink, SmallPathIsFound) {
  for (const int ways : {1, 2, 3}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      WorldTerms terms;
      terms.seed = seed;
      terms.up.loss = terms.down.loss = seed == 0 ? 0 : 0.1;
      if ((ways & 1) != 0) terms.up.largest = 548;
      if ((ways & 2) != 0) terms.down.largest = 548;
      TransportWorld world(terms);
      ASSERT_TRUE(world.run()) << ways << " " << seed;
      ASSERT_EQ(world.complaint(), "");
      ASSERT_LT(world.seconds(), seed == 0 ? 3.0 : 12.0) << ways << " " << seed;
    }
  }
}

// The acknowledgement of M2 was the last that made the gcs speak: the drone must find the size by itself.
TEST(TransportLink, SmallPathIsFoundWhereTheGcsHasNothingLeftToSend) {
  for (const bool in_session : {false, true}) {
    WorldTerms terms;
    terms.in_session = in_session;
    terms.sizes.drone_time = 300 * kMs;
    terms.up.largest = 548;
    TransportWorld world(terms);
    ASSERT_TRUE(world.run(10'000 * kMs)) << in_session;
    EXPECT_EQ(world.complaint(), "");
    EXPECT_LT(world.seconds(), 2.0) << in_session;
  }
}

TEST(TransportLink, SmallDatagramsByAgreement) {
  WorldTerms terms;
  terms.datagram_limit = 548;
  terms.up.largest = terms.down.largest = 548;
  terms.up.loss = terms.down.loss = 0.3;
  std::vector<double> seconds;
  for (terms.seed = 0; terms.seed < 200; ++terms.seed) {
    TransportWorld world(terms);
    ASSERT_TRUE(world.run());
    ASSERT_EQ(world.complaint(), "");
    seconds.push_back(world.seconds());
  }
  std::sort(seconds.begin(), seconds.end());
  EXPECT_LT(seconds[189], 1.4);
}

TEST(TransportLink, ForgedCopiesThatComeFirst) {
  for (const double loss : {0.0, 0.2}) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      WorldTerms terms;
      terms.seed = seed;
      terms.up.loss = terms.down.loss = loss;
      terms.fates = [](bool up, std::size_t, const Bytes& datagram) {
        if (!up) return std::vector<Fate>{{0, datagram}};
        // The attacker's copy, with another address, is always the first.
        return std::vector<Fate>{{0, datagram, 66}, {1 * kMs, datagram, TransportWorld::kHome}};
      };
      TransportWorld world(terms);
      ASSERT_TRUE(world.run()) << seed;
      ASSERT_EQ(world.complaint(), "") << seed;
      if (loss == 0) {
        ASSERT_LT(world.seconds(), 0.35);
        EXPECT_TRUE(world.has_answered(TransportWorld::kHome));
        EXPECT_FALSE(world.has_answered(66));
      }
    }
  }
}

TEST(TransportLink, AddressesThatOnlyTheHelloCameFrom) {
  WorldTerms terms;
  terms.fates = [](bool up, std::size_t nth, const Bytes& datagram) {
    std::vector<Fate> fates{{2 * kMs, datagram, TransportWorld::kHome}};
    if (up && nth == 0)
      fates = {{0, datagram, 66}, {1 * kMs, datagram, 67}, {2 * kMs, datagram, TransportWorld::kHome}};
    return fates;
  };
  TransportWorld world(terms);
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.complaint(), "");
  EXPECT_TRUE(world.has_answered(TransportWorld::kHome));
  EXPECT_LT(world.seconds(), 0.35);
}

TEST(TransportLink, NewAddressInTheMiddleTakesOver) {
  for (const std::size_t from : {3, 4, 5, 6, 8, 12, 20}) {
    WorldTerms terms;
    terms.sizes = kMcElieceSuite;
    terms.fates = [&](bool up, std::size_t nth, const Bytes& datagram) {
      return std::vector<Fate>{{0, datagram, up && nth < from ? 5 : TransportWorld::kHome}};
    };
    TransportWorld world(terms);
    ASSERT_TRUE(world.run()) << from;
    EXPECT_EQ(world.complaint(), "");
    EXPECT_TRUE(world.has_answered(TransportWorld::kHome)) << from;
  }
}

TEST(TransportLink, GcsSendsToAForgedAddressNoMoreThanThreeTimes) {
  // Nobody answers: only forged hellos come.
  WorldTerms terms;
  terms.fates = [](bool up, std::size_t, const Bytes& datagram) {
    return std::vector<Fate>{{0, datagram, up ? 66 : TransportWorld::kHome}};
  };
  TransportWorld world(terms);
  EXPECT_FALSE(world.run(8'000 * kMs));
  EXPECT_EQ(world.complaint(), "");
  ASSERT_TRUE(world.gcs() != nullptr);
  EXPECT_FALSE(world.has_answered(66));
  EXPECT_GT(world.bytes_to().at(66), 5000U);
}

// --- Ends that are slow, and answers that are lost -------------------------------------------------------------------

TEST(TransportLink, SlowSignerKeepsTheAttemptAlive) {
  WorldTerms terms;
  terms.sizes.gcs_time = 8'000 * kMs;
  terms.sizes.drone_time = 4'000 * kMs;
  TransportWorld world(terms);
  const auto begin = world.clock().now();
  while (!world.run(world.clock().now() - begin + 100 * kMs)) {
    const auto now = world.clock().now();
    ASSERT_LT(now - world.drone().last_progress(), 2'000 * kMs);
    if (world.gcs() != nullptr) {
      ASSERT_LT(now - world.gcs()->last_progress(), 2'000 * kMs);
    }
  }
  EXPECT_EQ(world.complaint(), "");
  EXPECT_LT(world.seconds(), 14.4);
}

TEST(TransportLink, M4LostForFiveSeconds) {
  WorldTerms terms;
  std::size_t swallowed = 0;
  TransportWorld* running = nullptr;
  terms.fates = [&](bool up, std::size_t, const Bytes& datagram) {
    const auto frames = parse_frames(frames_of(datagram), FramesOf::drone);
    const bool m4 = !up && frames->fragment_count > 0 && frames->fragments[0].message == 4;
    if (m4 && running->clock().now() < 6'200 * kMs) return ++swallowed, std::vector<Fate>{};
    return std::vector<Fate>{{0, datagram}};
  };
  TransportWorld world(terms);
  running = &world;
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.complaint(), "");
  EXPECT_GT(swallowed, 5U);
  EXPECT_LT(world.seconds(), 7.5);
  EXPECT_EQ(world.messages(false, MessageType::client_finish), 1);
}

TEST(TransportLink, SilentGcsHearsOfM1EveryTwoSeconds) {
  WorldTerms terms;
  std::vector<std::uint64_t> times;
  TransportWorld* running = nullptr;
  bool alive = false;
  terms.fates = [&](bool up, std::size_t, const Bytes& datagram) {
    if (up && running != nullptr) times.push_back(running->clock().now());
    return alive ? std::vector<Fate>{{0, datagram}} : std::vector<Fate>{};
  };
  TransportWorld world(terms);
  running = &world;
  EXPECT_FALSE(world.run(60'000 * kMs));
  ASSERT_GT(times.size(), 40U);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_LE(times[i] - times[i - 1], 2'000 * kMs);
  EXPECT_LT(times.size(), 100U);
  alive = true;
  const auto up_again = world.clock().now();
  ASSERT_TRUE(world.run());
  EXPECT_LT(world.clock().now() - up_again, 2'600 * kMs);
}

}  // namespace
}  // namespace pqcmav::test
