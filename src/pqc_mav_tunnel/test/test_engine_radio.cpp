// SPDX-License-Identifier: Apache-2.0
// Engines whose encrypted side is a serial radio: sessions, changes of keys, damage, ports.
#include "line/line_frame.hpp"
#include "radio_tunnel.hpp"

namespace pqcmav {
namespace {

using namespace test;

class EngineRadio : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Framings, EngineRadio, ::testing::Values("", ":mavlink"),
                         [](const auto& info) { return std::string(info.param).empty() ? "Raw" : "Mavlink"; });

TEST_P(EngineRadio, CarriesASessionBothWays) {
  RadioTunnel tunnel(GetParam());
  ASSERT_TRUE(tunnel.connect());
  for (std::uint8_t i = 0; i < 20; ++i) tunnel.expect_round_trip(i);
  EXPECT_EQ(status(*tunnel.drone).peer, tunnel.air.at(1, GetParam()));
  EXPECT_EQ(status(*tunnel.gcs).peer, tunnel.air.at(0, GetParam()));
  EXPECT_EQ(status(*tunnel.drone).last_error, "");
  EXPECT_TRUE(status(*tunnel.drone).compact);
  EXPECT_TRUE(eventually([&] { return status(*tunnel.drone).shape_kbit > 0 && status(*tunnel.gcs).shape_kbit > 0; }));
  EXPECT_LE(status(*tunnel.drone).shape_kbit, 46u * 95 / 100);
  EXPECT_EQ(RadioTunnel::count(*tunnel.drone, "line_errors"), 0u);
  EXPECT_EQ(RadioTunnel::count(*tunnel.gcs, "not_mine"), 0u);
  expect_all_accounted_for(*tunnel.gcs);
  // Nothing of it is in the clear.
  const auto seen = tunnel.air.seen();
  const auto plain = summed(mavlink2(76, 33, {255, 190, 7}));
  EXPECT_EQ(std::search(seen.begin(), seen.end(), plain.begin() + 1, plain.begin() + 30), seen.end());
}

TEST_P(EngineRadio, ChangesKeysInsideTheSession) {
  RadioTunnel tunnel(GetParam());
  ASSERT_TRUE(tunnel.connect());
  const auto full = tunnel.drone->request_rekey("uav1", "", "test", patience());
  EXPECT_TRUE(full.ok) << full.message;
  const auto ratchet = tunnel.drone->request_rekey("uav1", "", "test", patience(), "ratchet");
  EXPECT_TRUE(ratchet.ok) << ratchet.message;
  tunnel.expect_round_trip(1);
}

TEST_P(EngineRadio, TakesASuiteWithLargeMessages) {
  RadioTunnel tunnel(GetParam(), {}, {{"suite", "cs-mlkem768-aesgcm-mldsa65"}});
  ASSERT_TRUE(tunnel.connect());
  tunnel.expect_round_trip(1);
}

TEST_P(EngineRadio, ConnectsAndRekeysThroughDamage) {
  RadioTunnel tunnel(GetParam());
  std::mt19937 random(5);
  tunnel.air.change([&random](std::size_t, ByteView bytes) {
    Bytes out;
    for (const auto byte : bytes) {
      const auto what = random() % 4000;
      if (what == 0) continue;
      if (what == 1) out.push_back(static_cast<std::uint8_t>(random()));
      out.push_back(what == 2 ? static_cast<std::uint8_t>(byte ^ 0x10) : byte);
    }
    return out;
  });
  ASSERT_TRUE(tunnel.connect());
  EXPECT_TRUE(tunnel.drone->request_rekey("uav1", "", "test", patience()).ok);
  int came = 0;
  for (std::uint8_t i = 0; i < 60; ++i) {
    const auto message = summed(mavlink2(30, 28, {1, 1, i}));
    tunnel.send_up(message);
    const auto got = tunnel.ground.receive(500ms);
    came += got == message ? 1 : 0;
    EXPECT_EQ(got.value_or(message).size(), message.size()) << "what comes out is what went in, or nothing";
  }
  EXPECT_GT(came, 40);
  EXPECT_TRUE(eventually([&] {
    return RadioTunnel::count(*tunnel.gcs, "line_errors") + RadioTunnel::count(*tunnel.drone, "line_errors") > 0 ||
           std::string(GetParam()) == ":mavlink";
  }));
  EXPECT_EQ(total(*tunnel.gcs, "drop_auth_fail"), 0u) << "damage is no forgery";
}

TEST_P(EngineRadio, AnAdapterThatWasUnpluggedCarriesAgain) {
  RadioTunnel tunnel(GetParam());
  ASSERT_TRUE(tunnel.connect());
  for (std::uint8_t round = 1; round < 4; ++round) {
    tunnel.air.unplug(1);
    ASSERT_TRUE(eventually([&] { return !RadioTunnel::radio(*tunnel.drone).good; }));
    EXPECT_TRUE(status(*tunnel.drone).last_error.starts_with("RADIO_DOWN: The serial port "));
    EXPECT_TRUE(eventually([&] { return tunnel.drone->links().at(0).radio.value().kbit == 0; }));
    tunnel.air.plug(1);
    ASSERT_TRUE(eventually([&] { return RadioTunnel::count(*tunnel.drone, "opened") == 1u + round; }));
    ASSERT_TRUE(eventually([&] {
      const auto message = summed(mavlink2(30, 28, {1, 1, round}));
      tunnel.send_up(message);
      return tunnel.ground.receive(200ms) == message;
    }));
    tunnel.ground.drain();
  }
  EXPECT_EQ(status(*tunnel.drone).handshakes_ok, 1u) << "the session goes on";
}

TEST_P(EngineRadio, MessagesOfOneDatagramGoByThemselves) {
  RadioTunnel tunnel(GetParam());
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(eventually([&] { return status(*tunnel.drone).shape_kbit > 0; }));
  const auto one = summed(mavlink2(30, 28)), two = summed(mavlink2(76, 33)), three = summed(mavlink2(24, 40));
  tunnel.send_up(together({one, two, three}));
  std::set<Bytes> came;
  for (int i = 0; i < 3; ++i) came.insert(tunnel.ground.receive().value_or(Bytes{}));
  EXPECT_EQ(came, (std::set<Bytes>{one, two, three}));
}

TEST_P(EngineRadio, AnAnswerGoesTwiceAndArrivesOnce) {
  RadioTunnel tunnel(GetParam());
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(eventually([&] { return status(*tunnel.drone).shape_kbit > 0; }));
  for (std::uint8_t i = 0; i < 4; ++i) {
    const auto answer = summed(mavlink2(77, 10, {1, 1, i})), value = summed(mavlink2(30, 28, {1, 1, i}));
    tunnel.send_up(together({value, answer}));
    std::set<Bytes> came;
    for (int n = 0; n < 2; ++n) came.insert(tunnel.ground.receive().value_or(Bytes{}));
    EXPECT_EQ(came, (std::set<Bytes>{value, answer}));
  }
  ASSERT_TRUE(eventually([&] { return RadioTunnel::count(*tunnel.gcs, "copies") == 4; }));
  EXPECT_FALSE(tunnel.ground.receive(50ms)) << "nothing twice";
  EXPECT_EQ(RadioTunnel::count(*tunnel.drone, "copies"), 0u);
  EXPECT_EQ(total(*tunnel.gcs, "drop_replay"), 0u) << "it is no attack";
}

TEST_P(EngineRadio, AnAnswerOutlivesABurstOfLoss) {
  RadioTunnel tunnel(GetParam());
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(eventually([&] { return status(*tunnel.drone).shape_kbit > 0; }));
  std::atomic<bool> lossy{true};
  std::atomic<std::size_t> lost{0};
  tunnel.air.change([&](std::size_t from, ByteView bytes) {
    if (from == 0 || !lossy) return Bytes(bytes.begin(), bytes.end());
    lost += bytes.size();
    return Bytes{};
  });
  const auto answer = summed(mavlink2(77, 10, {1, 1, 1}));
  tunnel.send_up(answer);
  ASSERT_TRUE(eventually([&] { return lost >= answer.size(); }));
  lossy = false;
  EXPECT_EQ(tunnel.ground.receive(), answer);
  tunnel.air.change({});
}

/// The radio's place is on loopback wherever the data port is, so that nobody outside can name it as his source.
TEST(EngineRadios, AGcsAtOneAddressHearsItsRadio) {
  for (const std::string host : {"127.0.0.3", "::1"}) {
    if (host == "::1" && !has_ipv6()) continue;
    RadioTunnel tunnel("", {{"bind", host}});
    ASSERT_TRUE(tunnel.connect()) << host;
    tunnel.expect_round_trip(1);
  }
}

TEST(EngineRadios, BytesWithoutAFrameAreTold) {
  RadioTunnel receiver(":mavlink");
  ASSERT_TRUE(receiver.connect());
  receiver.drone->stop();
  RadioTunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  tunnel.drone->stop();
  // An ELRS receiver says RC_CHANNELS_OVERRIDE by itself.
  for (std::uint8_t i = 0; i < 8; ++i) receiver.air.inject(0, summed(mavlink2(70, 18, {255, 68, i}), 124));
  tunnel.air.inject(0, Bytes(200, 0x55));
  ASSERT_TRUE(eventually([&] { return !RadioTunnel::radio(*tunnel.gcs).good; }));
  EXPECT_NE(status(*tunnel.gcs).last_error.find("bytes come, no frame of ours"), std::string::npos);
  EXPECT_TRUE(RadioTunnel::radio(*receiver.gcs).good);
  Bytes frame(kLineFrameMost + 1);
  frame.resize(write_line_frame({false, 0}, as_bytes("x"), frame));
  tunnel.air.inject(0, Bytes{0});
  tunnel.air.inject(0, frame);
  EXPECT_TRUE(eventually([&] { return RadioTunnel::radio(*tunnel.gcs).good; }));
}

TEST(EngineRadios, ABusyPortAndAMissingOneAreTold) {
  RadioTunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  // A second drone's engine at the same port.
  auto second = start(with(with(drone_values(tunnel.keys, "uav1", 46011), {{"peer", tunnel.air.at(1)}}), {}));
  ASSERT_TRUE(eventually([&] { return !RadioTunnel::radio(*second).good; }));
  EXPECT_NE(status(*second).last_error.find("is in use by another program"), std::string::npos);
  EXPECT_TRUE(up(*tunnel.drone));
  auto third = start(with(drone_values(tunnel.keys, "uav1", 46011), {{"peer", "serial:/dev/pqcmav-none:57600"}}));
  ASSERT_TRUE(eventually([&] { return !RadioTunnel::radio(*third).good; }));
  EXPECT_NE(status(*third).last_error.find("is not there"), std::string::npos);
}

TEST(EngineRadios, UdpDronesOfTheSameGroundStationGoOnAsEver) {
  TempFolder folder;
  RadioAir air(folder.path());
  KeyFolders keys({"uav1", "uav2"});
  UdpPeer ground2, autopilot2;
  auto gcs = start(with(gcs_values(keys, {"uav1", "uav2"}),
                        {{"drone.uav2.plain_peer", ground2.address().text()}, {"drone.uav1.radio", air.at(0)}}));
  auto radio = start(with(drone_values(keys, "uav1", 46011), {{"peer", air.at(1)}}));
  auto udp = start(drone_values(keys, "uav2", gcs->ports().data));
  ASSERT_TRUE(eventually([&] { return up(*gcs, 0) && up(*gcs, 1) && up(*radio) && up(*udp); }));
  EXPECT_EQ(status(*udp).shape_kbit, 0u);
  EXPECT_EQ(status(*gcs, 1).shape_kbit, 0u);
  EXPECT_FALSE(status(*udp).compact);
  EXPECT_TRUE(gcs->stats().at(1).endpoints.empty());
  autopilot2.send("hello", plain_port(*udp, "uav2"));
  EXPECT_EQ(ground2.receive_text(), "hello");
}

/// A gcs and a drone that meet by UDP, and two radios that wait for them.
struct LateRadio {
  LateRadio() : air(folder.path()), keys({"uav1", "uav2"}) {
    gcs = start(with(gcs_values(keys, {"uav1"}), {{"drone.uav1.plain_peer", ground1.address().text()}}));
    first = start(drone_values(keys, "uav1", gcs->ports().data));
  }
  [[nodiscard]] bool passes(UdpPeer& autopilot, const Engine& drone, UdpPeer& ground, const char* id) const {
    return eventually([&] {
      const auto message = summed(mavlink2(30, 28, {1, 1, 7}));
      autopilot.send(message, plain_port(drone, id));
      return ground.receive(200ms) == message;
    });
  }
  std::string refusal_of(const FlatConfig& settings, bool dry_run = false) const {
    try {
      gcs->add_drone("uav2", settings, dry_run);
    } catch (const TunnelError& error) {
      return error.what();
    }
    return "";
  }
  TempFolder folder;
  RadioAir air;
  KeyFolders keys;
  UdpPeer ground1, ground2, autopilot1, autopilot2;
  std::unique_ptr<Engine> gcs, first;
};

TEST(EngineRadios, ADroneByARadioIsAddedAndRemovedWhileTheGcsRuns) {
  LateRadio late;
  ASSERT_TRUE(eventually([&] { return up(*late.first); }));
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(late.refusal_of({{"radio", late.air.at(0)}, {"plain_peer", late.ground2.address().text()}}, true), "");
    ASSERT_EQ(late.refusal_of({{"radio", late.air.at(0)}, {"plain_peer", late.ground2.address().text()}}), "");
    auto second = start(with(drone_values(late.keys, "uav2", 46011), {{"peer", late.air.at(1)}}));
    ASSERT_TRUE(eventually([&] { return up(*second) && up(*late.gcs, 1); }));
    EXPECT_TRUE(late.passes(late.autopilot2, *second, late.ground2, "uav2"));
    EXPECT_TRUE(status(*second).compact && status(*late.gcs, 1).compact) << "though the gcs began without a radio";
    EXPECT_EQ(late.gcs->remove_drone("uav2").removed, Names{"uav2"});
    EXPECT_TRUE(eventually([&] { return !up(*second); })) << "it was told";
  }
  EXPECT_TRUE(late.passes(late.autopilot1, *late.first, late.ground1, "uav1"));
}

TEST(EngineRadios, ARadioThatDoesNotOpenIsRefusedAndNothingChanges) {
  LateRadio late;
  ASSERT_TRUE(eventually([&] { return up(*late.first); }));
  for (const bool dry_run : {true, false}) {
    const auto words = late.refusal_of({{"radio", "serial:/dev/pqcmav-none:57600"}}, dry_run);
    EXPECT_NE(words.find("is not there"), std::string::npos) << words;
    EXPECT_EQ(words.find('\n'), std::string::npos);
  }
  EXPECT_EQ(late.gcs->status().size(), 1u);
  EXPECT_TRUE(late.passes(late.autopilot1, *late.first, late.ground1, "uav1"));
}

TEST(EngineRadios, AReloadMovesADroneToARadioAndBack) {
  LateRadio late;
  ASSERT_TRUE(eventually([&] { return up(*late.first); }));
  const auto values = [&](const std::string& radio) {
    return EngineConfig::from_flat(
        with(gcs_values(late.keys, {"uav1"}), {{"data_port", std::int64_t{late.gcs->ports().data}},
                                               {"drone.uav1.plain_peer", late.ground1.address().text()},
                                               {"drone.uav1.radio", radio}}));
  };
  EXPECT_EQ(late.gcs->reconfigure(values(late.air.at(0))).changed, Names{"uav1"});
  EXPECT_TRUE(late.passes(late.autopilot1, *late.first, late.ground1, "uav1")) << "by UDP its session goes on";
  late.first->stop();
  auto drone = start(with(drone_values(late.keys, "uav1", 46011), {{"peer", late.air.at(1)}}));
  ASSERT_TRUE(eventually([&] { return up(*drone) && status(*late.gcs).peer == late.air.at(0); }));
  EXPECT_TRUE(late.passes(late.autopilot1, *drone, late.ground1, "uav1"));
  EXPECT_TRUE(late.gcs->links().at(0).radio.has_value());
  EXPECT_THROW(late.gcs->reconfigure(values("serial:/dev/pqcmav-none:57600")), TunnelError);
  EXPECT_TRUE(late.passes(late.autopilot1, *drone, late.ground1, "uav1"));
  drone->stop();
  EXPECT_EQ(late.gcs->reconfigure(values("")).changed, Names{"uav1"});
  EXPECT_FALSE(late.gcs->links().at(0).radio.has_value());
  auto again = start(drone_values(late.keys, "uav1", late.gcs->ports().data));
  ASSERT_TRUE(eventually([&] { return up(*again); }));
  EXPECT_TRUE(late.passes(late.autopilot1, *again, late.ground1, "uav1"));
}

}  // namespace
}  // namespace pqcmav
