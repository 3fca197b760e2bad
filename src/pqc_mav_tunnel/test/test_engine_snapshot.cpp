// SPDX-License-Identifier: Apache-2.0
// Ends that were set back to a snapshot or copied: told by the kernel, or seen by the other end.
#include <future>

#include "raw_drone.hpp"
#include "relay.hpp"
#include "uevents.hpp"

namespace pqcmav {
namespace {

using namespace test;

std::optional<StateEvent> went_down(EventLog& log, std::string_view words) {
  return log.wait_for<StateEvent>([&](const auto& event) { return event.reason.find(words) != std::string::npos; });
}

/// Both ends of a test are on the machine that is set back.
TEST(EngineSnapshot, WhereTheKernelTellsNoKeyFromBeforeIsUsedAgain) {
  if (!enter_own_network()) GTEST_SKIP() << "needs a network namespace of its own";
  RelayedTunnel tunnel;
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.expect_round_trip("before");
  const auto before = status(*tunnel.drone).session_id;
  EventLog drone_log(*tunnel.drone), gcs_log(*tunnel.gcs);
  say_set_back();
  // First both have heard it: a drone that hears it first connects anew to a gcs that then forgets that session, too.
  for (const auto* engine : {tunnel.drone.get(), tunnel.gcs.get()})
    ASSERT_TRUE(eventually([&] { return total(*engine, "set_back") == 1; }));
  ASSERT_TRUE(eventually([&] { return tunnel.both_up() && status(*tunnel.drone).session_id != before; }));
  tunnel.expect_round_trip("after");
  for (auto* log : {&drone_log, &gcs_log}) EXPECT_TRUE(went_down(*log, "set back to a snapshot"));
  for (const auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) EXPECT_EQ(total(*engine, "set_back"), 1u);
}

/// The handshake that ran when the snapshot was made may end elsewhere, too: it ends nowhere.
TEST(EngineSnapshot, AHandshakeFromBeforeIsGivenUp) {
  if (!enter_own_network()) GTEST_SKIP() << "needs a network namespace of its own";
  RelayedTunnel tunnel;
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.relay->hold_answers(true);
  auto asked = std::async(std::launch::async, [&] { return tunnel.drone->request_rekey("uav1", "", "test", 20s); });
  ASSERT_TRUE(eventually([&] { return state(*tunnel.drone) == LinkState::rekeying; }));
  say_set_back();
  const auto outcome = asked.get();
  EXPECT_FALSE(outcome.ok);
  // The gcs ends its session as well. If it is the first to hear, the drone loses the session before it hears.
  const auto says = [&](const char* words) { return outcome.message.find(words) != std::string::npos; };
  EXPECT_TRUE(says("set back") || says("no running session")) << outcome.message;
  tunnel.relay->hold_answers(false);
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.expect_round_trip("after");
}

/// The same at the gcs: M3 finds nobody.
TEST(EngineSnapshot, AGcsForgetsWhomItWasAnswering) {
  if (!enter_own_network()) GTEST_SKIP() << "needs a network namespace of its own";
  const KeyFolders keys;
  const auto gcs = start(gcs_values(keys));
  UdpPeer socket;
  RawAttempt attempt(initiator_params(keys, "uav1"), socket, data_address(*gcs));
  attempt.start();
  ASSERT_TRUE(eventually([&] {
    const auto packet = socket.receive(5ms);
    return packet && attempt.on_datagram(*packet);
  }));
  say_set_back();
  ASSERT_TRUE(eventually([&] { return total(*gcs, "set_back") == 1; }));
  const auto unknown = total(*gcs, "hs_unknown");
  attempt.reply(attempt.initiator.on_data(attempt.message, now_ns()).send);
  EXPECT_TRUE(eventually([&] { return total(*gcs, "hs_unknown") > unknown; }));
  EXPECT_EQ(total(*gcs, "hs_completed"), 0u);
}

/// Nothing tells a drone that it runs twice; what arrives from both does.
TEST(EngineSnapshot, ACopyOfADroneEndsItsSession) {
  const KeyFolders keys;
  UdpPeer ground;
  const auto gcs = start(with(gcs_values(keys), {{"drone.uav1.plain_peer", ground.address().text()}}));
  RawDrone drone(keys, *gcs, "uav1");
  ASSERT_TRUE(drone.connected()) << drone.outcome.reason;
  const auto first = drone.seal("north");
  drone.send(first);
  ASSERT_EQ(ground.receive_text(), "north");
  drone.send(first);
  auto forged = first;
  forged.back() ^= 1;
  drone.send(forged);
  ASSERT_TRUE(eventually([&] { return total(*gcs, "drop_replay") == 2; }));
  drone.send(drone.seal("still"));
  ASSERT_EQ(ground.receive_text(), "still") << "a copy and a forgery are no second use";

  EventLog log(*gcs);
  drone.send(drone.seal_as_copy("south"));
  ASSERT_TRUE(went_down(log, "used the number of a packet twice"));
  EXPECT_EQ(total(*gcs, "used_twice"), 1u);
  const auto unknown = total(*gcs, "drop_unknown");
  drone.send(drone.seal("more"));
  EXPECT_TRUE(eventually([&] { return total(*gcs, "drop_unknown") > unknown; })) << "the keys are gone";
  EXPECT_TRUE(ground.drain().empty());
  expect_all_accounted_for(*gcs);
  const RawDrone anew(keys, *gcs, "uav1");
  EXPECT_TRUE(anew.connected()) << anew.outcome.reason;
}

}  // namespace
}  // namespace pqcmav
