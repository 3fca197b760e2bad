// SPDX-License-Identifier: Apache-2.0
// Who is let in, who is not, and what each of them hears: the drone a sentence, a stranger nothing.
#include "raw_drone.hpp"

namespace pqcmav {
namespace {

using namespace test;

/// A gcs and a drone that differ in something.
class EngineAdmission : public ::testing::Test {
 protected:
  void start_both(const KeyFolders& gcs_keys, const KeyFolders& drone_keys, const FlatConfig& gcs_more,
                  const FlatConfig& drone_more, const std::string& id = "uav1") {
    gcs = start(with(gcs_values(gcs_keys), gcs_more));
    const auto ports = gcs->ports();
    drone = start(with(drone_values(drone_keys, id, ports.data), drone_more));
  }
  /// The drone's first attempt fails with `error` and a sentence that contains `words`.
  void expect_refusal(HandshakeError error, const std::vector<std::string>& words) {
    EventLog log(*drone);
    const auto event = log.wait_for<HandshakeEvent>([](const auto&) { return true; });
    ASSERT_TRUE(event);
    EXPECT_FALSE(event->ok);
    EXPECT_EQ(to_string(event->error), to_string(error));
    for (const auto& word : words)
      EXPECT_NE(event->reason.find(word), std::string::npos) << '"' << word << "\" is not in: " << event->reason;
    EXPECT_EQ(event->reason.find('\n'), std::string::npos);
    ASSERT_TRUE(eventually([&] { return status(*drone).handshakes_failed >= 1; }));
    EXPECT_FALSE(status(*drone).last_error.empty());
    EXPECT_EQ(status(*drone).session_id, "");
    EXPECT_EQ(status(*gcs).session_id, "");
    EXPECT_EQ(total(*gcs, "hs_completed"), 0u);
  }
  /// The gcs stays silent towards the client, counts, and says in its own log why. The drone goes on asking, and tells
  /// its user.
  void expect_silent_refusal(const std::vector<std::string>& words, const char* counter = "hs_tag") {
    EventLog log(*gcs);
    const auto line = log.wait_for<LogEvent>(
        [](const auto& event) { return event.level == LogLevel::warning && event.text.starts_with("Refused"); });
    ASSERT_TRUE(line);
    for (const auto& word : words)
      EXPECT_NE(line->text.find(word), std::string::npos) << '"' << word << "\" is not in: " << line->text;
    ASSERT_TRUE(eventually([&] { return status(*drone).last_error.find("No answer yet") != std::string::npos; }));
    EXPECT_NE(status(*drone).last_error.find("PSK"), std::string::npos) << status(*drone).last_error;
    EXPECT_GE(total(*gcs, counter), 1u);
    EXPECT_EQ(total(*gcs, "hs_gated"), 0u);
    EXPECT_EQ(total(*gcs, "hs_taken"), 0u);
    EXPECT_EQ(total(*gcs, "keygens"), 0u) << "a stranger must not cost a key generation";
    EXPECT_EQ(total(*drone, "hs_taken") + total(*drone, "hs_tag"), 0u) << "nor an answer";
    EXPECT_EQ(status(*gcs).state, LinkState::down);
  }
  /// The gcs knows the drone and rejects what it asks for.
  void expect_reject(const std::vector<std::string>& words) {
    expect_refusal(HandshakeError::rejected, words);
    EventLog log(*gcs);
    const auto event = log.wait_for<HandshakeEvent>([](const auto& each) { return !each.ok; });
    ASSERT_TRUE(event);
    EXPECT_GE(total(*gcs, "hs_gated"), 1u);
    EXPECT_GE(total(*gcs, "hs_failed"), 1u);
    EXPECT_EQ(total(*gcs, "keygens"), 0u);
    EXPECT_EQ(event->error, HandshakeError::refused_locally);
    EXPECT_FALSE(event->reason.empty());
    EXPECT_NE(status(*gcs).last_error, "");
  }

  std::unique_ptr<Engine> gcs, drone;
};

TEST_F(EngineAdmission, WrongPsk) {
  const KeyFolders here, elsewhere;
  start_both(here, elsewhere, {}, {});
  expect_silent_refusal({"127.0.0.1", "'uav1'", "PSK"});
}

TEST_F(EngineAdmission, UnknownDroneId) {
  const KeyFolders here, elsewhere({"stranger"});
  start_both(here, elsewhere, {}, {}, "stranger");
  expect_silent_refusal({"'stranger'", "not provisioned"});
}

TEST_F(EngineAdmission, AnotherGroundStationsDrone) {
  const KeyFolders keys;
  start_both(keys, keys, {}, {{"gcs_id", "north"}});
  expect_silent_refusal({"'uav1'", "another name", "gcs_id"}, "hs_gate");
}

TEST_F(EngineAdmission, WrongPublicKeyOfTheGcs) {
  const KeyFolders here, elsewhere;
  namespace fs = std::filesystem;
  const auto copy = fs::copy_options::overwrite_existing;
  fs::copy_file(here.drone("uav1") + "/psk.key", elsewhere.drone("uav1") + "/psk.key", copy);
  start_both(here, elsewhere, {}, {});
  expect_refusal(HandshakeError::bad_signature, {"signature does not verify", "export"});
  // The gcs hears no more of it.
  ASSERT_TRUE(eventually(
      [&] {
        return status(*gcs).last_error.find("did not accept this ground station's signature") != std::string::npos;
      },
      60s))
      << status(*gcs).last_error;
}

TEST_F(EngineAdmission, ASuiteThatTheGcsForbids) {
  const KeyFolders keys;
  start_both(keys, keys, {{"allowed_suites", Names{"cs-mlkem768-aesgcm-mldsa65"}}}, {});
  expect_reject({"does not allow this suite"});
}

TEST_F(EngineAdmission, ASuiteThatTheGcsForbidsThisDrone) {
  const KeyFolders keys;
  start_both(keys, keys,
             {{"allowed_suites", Names{kLight}}, {"drone.uav1.allowed_suites", Names{"cs-mlkem768-aesgcm-mldsa65"}}},
             {});
  expect_reject({"does not allow this suite"});
}

TEST_F(EngineAdmission, PureModeWhereHybridIsWanted) {
  const KeyFolders keys;
  start_both(keys, keys, {{"allow_pure", false}}, {{"hybrid", false}});
  expect_reject({"hybrid"});
}

TEST_F(EngineAdmission, PureModeWhereAllowed) {
  const KeyFolders keys;
  start_both(keys, keys, {}, {{"hybrid", false}});
  ASSERT_TRUE(eventually([&] { return up(*gcs) && up(*drone); }));
  EXPECT_FALSE(status(*gcs).hybrid);
  EXPECT_FALSE(status(*drone).hybrid);
}

TEST_F(EngineAdmission, ASuiteForWhichTheGcsHasNoSigningKey) {
  const KeyFolders keys;
  std::filesystem::remove(keys.gcs() + "/sig/mldsa44.key");
  start_both(keys, keys, {}, {});
  expect_reject({"has no signing key"});
  EventLog log(*gcs);
  const auto line = log.wait_for<LogEvent>([](const auto& event) { return event.level == LogLevel::error; });
  ASSERT_TRUE(line);
  EXPECT_NE(line->text.find("mldsa44.key"), std::string::npos) << line->text;
}

TEST_F(EngineAdmission, ARequiredDroneSignatureThatIsMissing) {
  const KeyFolders keys({"uav1"}, {"mldsa44", "mldsa65"}, true);
  start_both(keys, keys, {{"drone.uav1.require_signature", true}}, {{"sign", false}});
  expect_reject({"signature"});
}

/// F7: without a word in either configuration.
TEST_F(EngineAdmission, WhereTheGcsKnowsTheDronesKeyItMustSign) {
  const KeyFolders keys({"uav1"}, {"mldsa44", "mldsa65"}, true);
  start_both(keys, keys, {}, {{"sign", false}});
  expect_reject({"signature"});
}

TEST_F(EngineAdmission, ADroneWithAKeyPairSignsUnlessToldOtherwise) {
  const KeyFolders keys({"uav1"}, {"mldsa44", "mldsa65"}, true);
  start_both(keys, keys, {}, {});
  ASSERT_TRUE(eventually([&] { return up(*gcs) && up(*drone); }));
  EXPECT_TRUE(status(*gcs).drone_signed);
}

TEST_F(EngineAdmission, ASignatureThatIsNotWantedByName) {
  const KeyFolders keys({"uav1"}, {"mldsa44", "mldsa65"}, true);
  start_both(keys, keys, {{"drone.uav1.require_signature", false}}, {{"sign", false}});
  ASSERT_TRUE(eventually([&] { return up(*gcs) && up(*drone); }));
  EXPECT_FALSE(status(*gcs).drone_signed);
}

TEST_F(EngineAdmission, ADroneSignatureMadeWithAnotherKey) {
  const KeyFolders here({"uav1"}, {"mldsa44", "mldsa65"}, true), elsewhere({"uav1"}, {"mldsa44", "mldsa65"}, true);
  namespace fs = std::filesystem;
  for (const auto* half : {".key", ".pub"})
    fs::copy_file(elsewhere.drone("uav1") + "/sig/mldsa44" + half, here.drone("uav1") + "/sig/mldsa44" + half,
                  fs::copy_options::overwrite_existing);
  start_both(here, here, {{"drone.uav1.require_signature", true}}, {{"sign", true}});
  ASSERT_TRUE(eventually([&] {
    return status(*gcs).last_error.find("drone's signature does not verify") != std::string::npos;
  })) << status(*gcs).last_error;
  EXPECT_EQ(status(*gcs).session_id, "");
  EXPECT_EQ(total(*gcs, "hs_completed"), 0u);
}

TEST_F(EngineAdmission, ADroneSignatureThatVerifies) {
  const KeyFolders keys({"uav1"}, {"mldsa44", "mldsa65"}, true);
  start_both(keys, keys, {{"drone.uav1.require_signature", true}}, {{"sign", true}});
  ASSERT_TRUE(eventually([&] { return up(*gcs) && up(*drone); }));
  EXPECT_TRUE(status(*gcs).drone_signed);
  EXPECT_TRUE(status(*drone).drone_signed);
}

/// A thief of the PSK plays the gcs as far as that goes, and allows level 1 alone.
TEST_F(EngineAdmission, RefusalsThatAThiefForgesLowerNothing) {
  constexpr const char* kHigher = "cs-mlkem768-aesgcm-mldsa65";
  const KeyFolders keys, own;
  std::filesystem::copy_file(keys.gcs() + "/psk/uav1.key", own.gcs() + "/psk/uav1.key",
                             std::filesystem::copy_options::overwrite_existing);
  auto thief = start(with(gcs_values(own), {{"allowed_suites", Names{kLight}}}));
  const auto port = static_cast<std::int64_t>(thief->ports().data);
  drone = start(with(drone_values(keys, "uav1", thief->ports().data), {{"suite", kHigher}}));
  EventLog log(*drone);
  ASSERT_TRUE(eventually([&] { return status(*drone).handshakes_failed >= 2; }));
  log.gather();
  for (const auto& each : log.all())
    if (const auto* event = std::get_if<HandshakeEvent>(&each.what)) {
      EXPECT_EQ(to_string(event->error), to_string(HandshakeError::rejected));
      EXPECT_EQ(event->suite, kHigher);
    }
  EXPECT_EQ(total(*thief, "hs_completed"), 0u);
  thief.reset();
  gcs = start(with(gcs_values(keys), {{"data_port", port}}));
  ASSERT_TRUE(eventually([&] { return up(*gcs) && up(*drone); }, 60s));
  EXPECT_EQ(status(*drone).suite, kHigher);
}

TEST_F(EngineAdmission, ADroneThatShakesHandsTooOftenIsToldBusy) {
  const KeyFolders keys({"uav1", "uav2"});
  gcs = start(with(gcs_values(keys, {"uav1", "uav2"}), {{"handshakes_per_drone_s", 0.01}}));
  int done = 0, busy = 0;
  for (int i = 0; i < 12; ++i) {
    const RawDrone each(keys, *gcs, "uav1");
    if (each.connected()) {
      ++done;
    } else {
      EXPECT_EQ(each.outcome.reject_code, static_cast<std::uint8_t>(Reject::busy)) << each.outcome.reason;
      ++busy;
    }
  }
  EXPECT_EQ(done, 8) << "four times at once, and then four times after it has answered a Retry";
  EXPECT_EQ(busy, 4);
  EXPECT_EQ(total(*gcs, "hs_busy"), 4u);
  EXPECT_EQ(total(*gcs, "keygens"), 8u);
  const RawDrone other(keys, *gcs, "uav2");
  EXPECT_TRUE(other.connected()) << "its neighbour is not concerned";
}

/// A session that never ends is no licence to have M2 built without end.
TEST_F(EngineAdmission, ADroneThatRekeysTooOftenIsToldBusyAndKeepsItsSession) {
  const KeyFolders keys;
  UdpPeer ground;
  gcs = start(
      with(gcs_values(keys), {{"handshakes_per_drone_s", 0.01}, {"drone.uav1.plain_peer", ground.address().text()}}));
  RawDrone drone(keys, *gcs, "uav1");
  ASSERT_TRUE(drone.connected()) << drone.outcome.reason;
  drone.send(drone.seal("before"));
  ASSERT_EQ(ground.receive_text(), "before");
  int done = 0, busy = 0;
  for (int i = 0; i < 12; ++i) {
    const RawDrone rekeyed(keys, *gcs, "uav1", drone);
    if (rekeyed.connected()) {
      ++done;
    } else {
      EXPECT_EQ(rekeyed.outcome.reject_code, static_cast<std::uint8_t>(Reject::busy)) << rekeyed.outcome.reason;
      ++busy;
    }
  }
  EXPECT_EQ(done, 4) << "as many as a drone with a return proof";
  EXPECT_EQ(busy, 8);
  EXPECT_EQ(total(*gcs, "keygens"), 5u);
  drone.send(drone.seal("after"));
  EXPECT_EQ(ground.receive_text(), "after");
}

TEST_F(EngineAdmission, AnAttemptInsideASessionCountsAmongThoseThatRun) {
  const KeyFolders keys({"uav1", "uav2"});
  gcs = start(with(gcs_values(keys, {"uav1", "uav2"}), {{"max_handshakes", 1}}));
  RawDrone one(keys, *gcs, "uav1"), two(keys, *gcs, "uav2");
  ASSERT_TRUE(one.connected() && two.connected());
  for (auto* each : {&one, &two}) each->send(each->seal("mine"));
  // Each newer one replaces the older one: ten of them take no more than one place.
  for (int i = 0; i < 10; ++i) {
    const RawDrone stalled(keys, *gcs, "uav1", one, std::nullopt, std::nullopt, 0ms);
    EXPECT_FALSE(stalled.connected());
  }
  ASSERT_TRUE(eventually([&] { return total(*gcs, "hs_gated") == 12; }));
  const RawDrone further(keys, *gcs, "uav2", two);
  EXPECT_TRUE(further.connected()) << further.outcome.reason;
  EXPECT_EQ(total(*gcs, "hs_busy"), 0u);
}

/// The drone waits as long as it is told to, asks again, and has its new keys.
TEST_F(EngineAdmission, ABusyGcsOnlyDelaysARekey) {
  const KeyFolders keys;
  gcs = start(with(gcs_values(keys), {{"handshakes_per_drone_s", 1.0}}));
  drone = start(drone_values(keys, "uav1", gcs->ports().data));
  ASSERT_TRUE(eventually([&] { return up(*gcs) && up(*drone); }));
  for (int i = 1; i <= 6; ++i) {
    const auto outcome = drone->request_rekey("uav1", "", "", 30s);
    ASSERT_TRUE(outcome.ok) << outcome.message;
    ASSERT_TRUE(eventually([&] { return status(*gcs).epoch == i; }));
  }
  EXPECT_GE(total(*gcs, "hs_busy"), 1u);
}

/// Goes through the gate and then leaves the gcs waiting for M3. With `answers` it says that M2 begins to arrive.
struct Stalled {
  Stalled(const KeyFolders& keys, const Engine& gcs, const std::string& id, bool answers = false)
      : attempt(initiator_params(keys, id), socket, data_address(gcs)) {
    attempt.start();
    auto packet = socket.receive();
    while (packet && (*packet)[0] == kRetryType) {
      (void)attempt.on_datagram(*packet);
      packet = socket.receive();
    }
    EXPECT_TRUE(packet && (*packet)[0] == 0x43) << "the gcs answers";
    if (packet && answers) (void)attempt.on_datagram(*packet);
  }
  UdpPeer socket;
  RawAttempt attempt;
};

TEST_F(EngineAdmission, NoMoreAtOnceThanConfigured) {
  const KeyFolders keys({"uav1", "uav2", "uav3"});
  gcs = start(with(gcs_values(keys, {"uav1", "uav2", "uav3"}), {{"max_handshakes", 1}}));
  {
    const Stalled recording(keys, *gcs, "uav1");
    EXPECT_TRUE(RawDrone(keys, *gcs, "uav2").connected()) << "one that nobody answered holds up nobody who does";
  }
  const Stalled stalled(keys, *gcs, "uav3", true);
  EXPECT_TRUE(eventually([&] {
    const RawDrone refused(keys, *gcs, "uav2");
    return refused.outcome.reject_code == static_cast<std::uint8_t>(Reject::busy);
  }));
  // An idle attempt gives its place back after ten seconds.
  ASSERT_TRUE(eventually([&] { return RawDrone(keys, *gcs, "uav2").connected(); }, 40s));
}

/// A client that holds the PSK but cannot finish keeps nobody out.
TEST_F(EngineAdmission, FirstMessagesThatLeadNowhereTakeNoPlaceOfASession) {
  const KeyFolders keys({"uav1", "uav2", "uav3", "uav4"});
  gcs = start(
      with(gcs_values(keys, {"uav1", "uav2", "uav3", "uav4"}), {{"max_handshakes", 2}, {"handshake_threads", 1}}));
  drone = start(drone_values(keys, "uav1", gcs->ports().data));
  ASSERT_TRUE(eventually([&] { return up(*drone) && up(*gcs); }));
  // M1s that a thief of PSKs, or a recorder, sends without going on: they take all places without a return proof.
  const UdpPeer thief;
  std::vector<std::unique_ptr<RawAttempt>> begun;
  for (const auto* id : {"uav2", "uav3", "uav4"}) {
    begun.push_back(std::make_unique<RawAttempt>(initiator_params(keys, id), thief, data_address(*gcs)));
    begun.back()->start();
  }
  ASSERT_TRUE(eventually([&] { return total(*gcs, "hs_gated") >= 3 && total(*gcs, "hs_retried") >= 1; }));
  for (int i = 0; i < 5; ++i) {
    const auto outcome = drone->request_rekey("uav1", kLight, "", 20s);
    EXPECT_TRUE(outcome.ok) << outcome.message;
  }
  EXPECT_EQ(status(*drone).rekeys_ok, 5u);
}

TEST_F(EngineAdmission, AStalledAttemptOfADroneDoesNotKeepItOut) {
  const KeyFolders keys;
  gcs = start(with(gcs_values(keys), {{"max_handshakes", 4}}));
  const Stalled stalled(keys, *gcs, "uav1");
  const RawDrone again(keys, *gcs, "uav1");
  EXPECT_TRUE(again.connected()) << again.outcome.reason;
  ASSERT_TRUE(eventually([&] { return total(*gcs, "hs_failed") == 1; })) << "the older one ends when the newer is done";
}

TEST_F(EngineAdmission, FailingHandshakesOfOneDroneLeaveTheOthersAlone) {
  const KeyFolders keys({"uav1", "uav2"}), wrong({"uav1", "uav2"});
  UdpPeer ground, autopilot;
  gcs = start(with(gcs_values(keys, {"uav1", "uav2"}), {{"drone.uav2.plain_peer", ground.address().text()}}));
  const auto ports = gcs->ports();
  drone = start(drone_values(keys, "uav2", ports.data));
  ASSERT_TRUE(eventually([&] { return up(*drone) && up(*gcs, 1); }));
  const auto session = status(*gcs, 1).session_id;
  for (int i = 0; i < 20; ++i) {
    const RawDrone impostor(wrong, *gcs, "uav2", "127.0.0.1", 50ms);
    EXPECT_FALSE(impostor.connected());
    const auto text = std::to_string(i);
    autopilot.send(text, plain_port(*drone, "uav2"));
    EXPECT_EQ(ground.receive_text(), text);
  }
  EXPECT_EQ(status(*gcs, 1).session_id, session);
  EXPECT_EQ(status(*gcs, 1).last_error, "") << "what a stranger does in a drone's name is not the drone's error";
  EXPECT_EQ(status(*gcs, 0).state, LinkState::down);
}

}  // namespace
}  // namespace pqcmav
