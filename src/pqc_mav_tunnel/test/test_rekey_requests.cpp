// SPDX-License-Identifier: Apache-2.0
// The answer a rekey request receives, and when: busy, refused, avoided suites, the end of the proxy in the middle of
// it; and that whatever it takes to make new keys has less right to the processor than packets.
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "relay.hpp"

namespace pqcmav {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr const char* kOther = "cs-mlkem768-aesgcm-mldsa65";

/// A tunnel whose rekeys get stuck in the middle of their handshake for as long as the test wants.
class RekeyRequests : public ::testing::Test {
 protected:
  explicit RekeyRequests(FlatConfig gcs = {}, FlatConfig drone = {}) : tunnel(std::move(gcs), std::move(drone)) {}
  void SetUp() override {
    ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  }
  std::future<RekeyOutcome> begin(Engine& engine) {
    return std::async(std::launch::async, [&engine] { return engine.request_rekey("uav1", "", "test", 60s); });
  }
  /// A rekey that waits for an answer beyond the gate.
  std::future<RekeyOutcome> begin_stuck(Engine& engine) {
    tunnel.relay->hold_answers(true);
    auto out = begin(engine);
    EXPECT_TRUE(eventually(
        [&] { return state(*tunnel.gcs) == LinkState::handshaking || total(*tunnel.gcs, "hs_gated") >= 2; }));
    EXPECT_TRUE(eventually([&] { return state(*tunnel.drone) == LinkState::rekeying; }));
    return out;
  }
  RelayedTunnel tunnel;
};

void expect_busy(const RekeyOutcome& outcome) {
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.message.rfind("Busy: ", 0), 0u) << outcome.message;
}

TEST_F(RekeyRequests, WaitTheirTurnAtBothEndsWhileOneRuns) {
  auto first = begin_stuck(*tunnel.drone);
  auto second = begin(*tunnel.drone), third = begin(*tunnel.gcs), fourth = begin(*tunnel.gcs);
  tunnel.expect_round_trip("data flows meanwhile");
  for (auto* each : {&first, &second, &third, &fourth}) EXPECT_EQ(each->wait_for(0s), std::future_status::timeout);
  tunnel.relay->hold_answers(false);
  for (auto* each : {&first, &second, &third, &fourth}) {
    const auto outcome = each->get();
    EXPECT_TRUE(outcome.ok) << outcome.message;
  }
  EXPECT_EQ(status(*tunnel.drone).rekeys_ok, 4u);
  EXPECT_EQ(status(*tunnel.drone).epoch, 4u);
}

TEST_F(RekeyRequests, WhoCannotWaitSoLongIsNotServedLater) {
  auto first = begin_stuck(*tunnel.gcs);
  expect_busy(tunnel.drone->request_rekey("uav1", kOther, "", 200ms));
  expect_busy(tunnel.gcs->request_rekey("uav1", kOther, "", 200ms));
  tunnel.relay->hold_answers(false);
  const auto done = first.get();
  EXPECT_TRUE(done.ok) << done.message;
  EXPECT_TRUE(tunnel.gcs->request_rekey("uav1", "", "", 20s).ok);
  EXPECT_EQ(status(*tunnel.drone).rekeys_ok, 2u);
}

TEST_F(RekeyRequests, FourAtMostWaitAtEachEnd) {
  auto first = begin_stuck(*tunnel.drone);
  for (auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
    // One of the gcs' is asked for, and waits at the drone.
    const int most = engine == tunnel.drone.get() ? 4 : 5;
    std::vector<std::future<RekeyOutcome>> asked;
    for (int i = 0; i < most + 3; ++i)
      asked.push_back(
          std::async(std::launch::async, [engine] { return engine->request_rekey("uav1", "", "test", 3s); }));
    int refused = 0;
    for (auto& each : asked) {
      const auto outcome = each.get();
      EXPECT_FALSE(outcome.ok);
      if (outcome.message.starts_with("Busy: four rekeys")) ++refused;
    }
    EXPECT_EQ(refused, 3);
  }
  tunnel.relay->hold_answers(false);
  EXPECT_TRUE(first.get().ok);
  EXPECT_TRUE(tunnel.gcs->request_rekey("uav1", "", "", 20s).ok);
}

class PeriodicRekeys : public RekeyRequests {
 protected:
  PeriodicRekeys() : RekeyRequests({}, {{"rekey_interval_s", 1.0}}) {}
};

TEST_F(PeriodicRekeys, AreWaitedForToo) {
  tunnel.relay->hold_answers(true);
  const auto before = total(*tunnel.gcs, "hs_gated");
  ASSERT_TRUE(eventually(
      [&] { return total(*tunnel.gcs, "hs_gated") > before && state(*tunnel.drone) == LinkState::rekeying; }));
  expect_busy(tunnel.drone->request_rekey("uav1", "", "", 200ms));
  tunnel.relay->hold_answers(false);
  ASSERT_TRUE(eventually([&] { return status(*tunnel.drone).rekeys_ok >= 1; }));
}

TEST_F(RekeyRequests, EndWithAnAnswerWhenTheDroneStops) {
  auto asked = begin_stuck(*tunnel.drone);
  const auto begin_stop = std::chrono::steady_clock::now();
  tunnel.drone->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin_stop, 20s) << "a handshake may take 45 s";
  const auto outcome = asked.get();
  EXPECT_FALSE(outcome.ok);
  EXPECT_NE(outcome.message.find("shutting down"), std::string::npos) << outcome.message;
  EXPECT_EQ(total(*tunnel.gcs, "hs_completed"), 1u);
}

TEST_F(RekeyRequests, FromTheGcsEndWithAnAnswerWhenEitherEndStops) {
  for (const bool drone_stops : {true, false}) {
    auto asked = begin_stuck(*tunnel.gcs);
    const auto begin_stop = std::chrono::steady_clock::now();
    (drone_stops ? tunnel.drone : tunnel.gcs)->stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin_stop, 20s);
    const auto outcome = asked.get();
    EXPECT_FALSE(outcome.ok);
    EXPECT_NE(outcome.message.find("shutting down"), std::string::npos) << outcome.message;
    if (!drone_stops) continue;
    tunnel.relay->hold_answers(false);
    tunnel.start_drone();
    ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  }
}

class AvoidedSuites : public RekeyRequests {
 protected:
  AvoidedSuites() : RekeyRequests({{"allowed_suites", Names{kLight}}}) {}
};

TEST_F(AvoidedSuites, AreListedForTheConfiguredTimeAndTriedWhenAskedFor) {
  const auto first = tunnel.drone->request_rekey("uav1", kOther, "", 20s);
  EXPECT_FALSE(first.ok);
  EXPECT_NE(first.message.find("running session continues"), std::string::npos) << first.message;
  EXPECT_EQ(first.message.find("failed before"), std::string::npos) << first.message;
  EXPECT_EQ(status(*tunnel.drone).blacklisted_suites, Names{kOther}) << "where a policy reads it";

  for (auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
    const auto again = engine->request_rekey("uav1", kOther, "", 20s);
    EXPECT_FALSE(again.ok);
    EXPECT_EQ(again.message.rfind("This suite has failed before and is still avoided.", 0), 0u) << again.message;
  }
  // The ground changes its mind.
  tunnel.gcs_extra = {};
  tunnel.gcs.reset();
  tunnel.start_gcs_again();
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  const auto good = tunnel.drone->request_rekey("uav1", kOther, "", 20s);
  EXPECT_TRUE(good.ok) << good.message;
  EXPECT_NE(good.message.find("no longer is"), std::string::npos) << good.message;
  EXPECT_TRUE(status(*tunnel.drone).blacklisted_suites.empty());
}

class ShortlyAvoidedSuites : public RekeyRequests {
 protected:
  ShortlyAvoidedSuites() : RekeyRequests({{"allowed_suites", Names{kLight}}}, {{"blacklist_s", 1.0}}) {}
};

TEST_F(ShortlyAvoidedSuites, AreForgottenAfterTheirTime) {
  EXPECT_FALSE(tunnel.drone->request_rekey("uav1", kOther, "", 20s).ok);
  ASSERT_EQ(status(*tunnel.drone).blacklisted_suites.size(), 1u);
  EXPECT_TRUE(eventually([&] { return status(*tunnel.drone).blacklisted_suites.empty(); }));
  EXPECT_TRUE(status(*tunnel.drone).blacklisted_suites.empty());
}

/// However many suites fail, the configured one remains.
TEST_F(AvoidedSuites, CannotBeAllOfThem) {
  for (const auto* suite : {"cs-mlkem512-chacha20poly1305-mldsa44", "cs-mlkem512-ascon128a-mldsa44", kOther,
                            "cs-mlkem512-asconaead128-mldsa44"})
    EXPECT_FALSE(tunnel.drone->request_rekey("uav1", suite, "", 20s).ok);
  EXPECT_EQ(status(*tunnel.drone).blacklisted_suites.size(), 4u);
  // The gcs comes back and forbids even that.
  tunnel.gcs_extra = {{"allowed_suites", Names{kOther}}};
  tunnel.gcs.reset();
  tunnel.start_gcs_again();
  ASSERT_TRUE(eventually([&] { return status(*tunnel.drone).handshakes_failed >= 7; }));
  const auto avoided = status(*tunnel.drone).blacklisted_suites;
  for (const auto& each : avoided) EXPECT_NE(each, kLight);
}

/// Name, nice value and scheduling policy of every thread of this process.
struct ThreadView {
  std::string name;
  int nice = 0, policy = 0;
};
std::vector<ThreadView> threads() {
  std::vector<ThreadView> out;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    ThreadView view;
    std::getline(std::ifstream(task.path() / "comm"), view.name);
    const auto tid = std::stoi(task.path().filename().string());
    view.nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(tid));
    view.policy = ::sched_getscheduler(tid);
    out.push_back(view);
  }
  return out;
}

class WithKeyPool : public RekeyRequests {
 protected:
  WithKeyPool() : RekeyRequests({{"key_pool_depth", 1}}) {}
};

TEST_F(WithKeyPool, WhoComputesHandshakesYieldsToPackets) {
  const auto own = ::getpriority(PRIO_PROCESS, 0);
  std::map<std::string, int> seen;
  for (const auto& thread : threads()) {
    ++seen[thread.name];
    if (thread.name == "pqc-data") {
      EXPECT_EQ(thread.nice, own);
      EXPECT_EQ(thread.policy, SCHED_OTHER);
    } else if (thread.name == "pqc-control" || thread.name == "pqc-handshake") {
      EXPECT_EQ(thread.nice, std::min(19, own + 5)) << thread.name;
    } else if (thread.name == "pqc-keypool") {
      EXPECT_EQ(thread.policy, SCHED_IDLE);
    }
  }
  EXPECT_EQ(seen["pqc-data"], 1 + data_threads()) << "the drone's and those of the gcs";
  EXPECT_EQ(seen["pqc-control"], 1);
  EXPECT_GE(seen["pqc-handshake"], 1);
  EXPECT_EQ(seen["pqc-keypool"], 1);
}

}  // namespace
}  // namespace pqcmav
