// SPDX-License-Identifier: Apache-2.0
// Compact headers between engines: at both ends and at one, over loss, rekeys, other addresses and restarts.
#include "engine_fixture.hpp"
#include "relay.hpp"
#include "session/compact_header.hpp"

namespace pqcmav {
namespace {

using namespace test;

const FlatConfig kOn{{"compact", true}};

class EngineCompact : public ::testing::Test {
 protected:
  void begin(const FlatConfig& gcs_more, const FlatConfig& drone_more) {
    tunnel = std::make_unique<RelayedTunnel>(gcs_more, drone_more);
    ASSERT_TRUE(eventually([&] { return tunnel->both_up(); })) << status(*tunnel->drone).last_error;
  }
  /// What passed the relay while so many messages went up and down: of each way, how many were compact, and how many
  /// were long.
  struct Forms {
    std::size_t compact[2] = {}, long_data[2] = {}, long_control[2] = {};
  };
  Forms exchange(int count) {
    tunnel->relay->record(true);
    for (int i = 0; i < count; ++i) tunnel->expect_round_trip("message " + std::to_string(i));
    Forms out;
    for (const auto way : {Relay::Way::up, Relay::Way::down})
      for (const auto& packet : tunnel->relay->take(way)) {
        const auto at = static_cast<std::size_t>(way);
        ++(is_compact(packet) ? out.compact[at] : packet[0] == 0x03 ? out.long_data[at] : out.long_control[at]);
      }
    tunnel->relay->record(false);
    return out;
  }
  /// No packet was taken for a forged, foreign or old one.
  void expect_no_drops() {
    for (const auto* engine : {tunnel->gcs.get(), tunnel->drone.get()}) {
      for (const auto* name :
           {"drop_malformed", "drop_unknown", "drop_seq_old", "drop_replay", "drop_auth_fail", "drop_decrypt_fail"})
        EXPECT_EQ(total(*engine, name), 0u) << name;
      expect_all_accounted_for(*engine);
    }
  }

  std::unique_ptr<RelayedTunnel> tunnel;
};

TEST_F(EngineCompact, AtBothEnds) {
  begin(kOn, kOn);
  EXPECT_TRUE(status(*tunnel->gcs).compact && status(*tunnel->drone).compact);
  const auto before = stat(*tunnel->drone, "enc_rx_bytes");
  const auto forms = exchange(100);
  EXPECT_GE(forms.compact[0], 100u);
  EXPECT_GE(forms.compact[1], 100u);
  EXPECT_EQ(forms.long_data[0] + forms.long_data[1] + forms.long_control[1], 0u);
  EXPECT_GT(stat(*tunnel->drone, "enc_rx_bytes"), before);
  // The drone's reports and probes name the session, so that a restarted gcs can tell that it does not hold it.
  tunnel->relay->record(true);
  std::this_thread::sleep_for(1200ms);
  std::size_t reports = 0;
  for (const auto& packet : tunnel->relay->take(Relay::Way::up)) reports += packet[0] == 0x13 ? 1 : 0;
  EXPECT_GE(reports, 1u);
  expect_no_drops();
}

TEST_F(EngineCompact, AtOneEndAloneNothingChanges) {
  for (const bool gcs : {true, false}) {
    begin(gcs ? kOn : FlatConfig{}, gcs ? FlatConfig{} : kOn);
    EXPECT_FALSE(status(*tunnel->gcs).compact || status(*tunnel->drone).compact);
    const auto forms = exchange(20);
    EXPECT_EQ(forms.compact[0] + forms.compact[1], 0u);
    EXPECT_EQ(forms.long_data[0], 20u);
    EXPECT_EQ(forms.long_data[1], 20u);
    expect_no_drops();
  }
}

TEST_F(EngineCompact, OverheadIsTwentyBytes) {
  begin(kOn, kOn);
  tunnel->relay->record(true);
  tunnel->expect_round_trip(std::string(40, 'x'));
  for (const auto way : {Relay::Way::up, Relay::Way::down}) {
    const auto seen = tunnel->relay->take(way);
    const auto data = way == Relay::Way::up ? 60u : 63u;  // "re " comes back before it
    EXPECT_TRUE(std::any_of(seen.begin(), seen.end(),
                            [&](const auto& packet) { return packet[0] == 0x80 && packet.size() == data; }));
  }
}

TEST_F(EngineCompact, RekeysLoseNothing) {
  begin(kOn, kOn);
  for (int round = 0; round < 12; ++round) {
    std::atomic<bool> over{false};
    std::thread rekey([&] {
      const auto done = tunnel->drone->request_rekey("uav1", "", "test", 20s);
      EXPECT_TRUE(done.ok) << done.message;
      over = true;
    });
    for (int i = 0; !over || i < 5; ++i) tunnel->expect_round_trip(std::to_string(round) + "." + std::to_string(i));
    rekey.join();
  }
  EXPECT_TRUE(eventually([&] { return tunnel->both_up() && status(*tunnel->gcs).compact; }));
  EXPECT_EQ(status(*tunnel->gcs).epoch, 12);
  expect_no_drops();
}

TEST_F(EngineCompact, LossCostsWhatIsLostAndNoMore) {
  begin(kOn, kOn);
  tunnel->relay->lose(30);
  int up = 0;
  for (int i = 0; i < 600; ++i) {
    tunnel->send_up("up");
    tunnel->send_down("down");
    if (i % 100 == 50) {
      EXPECT_TRUE(tunnel->drone->request_rekey("uav1", "", "test", 20s).ok);
    }
    std::this_thread::sleep_for(1ms);
  }
  tunnel->relay->lose(0);
  tunnel->send_up("end");
  for (std::string text; text != "end" && text != "(nothing)"; ++up) text = tunnel->ground.receive_text();
  EXPECT_GT(up, 300);
  EXPECT_LT(up, 540);
  for (const auto* engine : {tunnel->gcs.get(), tunnel->drone.get()}) {
    EXPECT_EQ(total(*engine, "drop_auth_fail") + total(*engine, "drop_malformed"), 0u);
    expect_all_accounted_for(*engine);
  }
}

TEST_F(EngineCompact, AnotherAddressIsFollowed) {
  begin(kOn, kOn);
  tunnel->expect_round_trip("before");
  tunnel->relay->move();
  tunnel->send_up("moved");
  ASSERT_EQ(tunnel->ground.receive_text(), "moved");
  ASSERT_TRUE(eventually([&] { return status(*tunnel->gcs).peer == tunnel->relay->outside().text(); }));
  tunnel->expect_round_trip("after");
  EXPECT_EQ(stat(*tunnel->gcs, "roams"), 1u);
}

/// Its silence would be noticed after 20 s: what tells the drone is the token.
TEST_F(EngineCompact, ARestartedGcsIsFoundByItsToken) {
  const TempFolder state;
  begin(kOn, with(kOn, {{"reconnect_after_s", 20.0}, {"state_dir", state.path()}}));
  tunnel->expect_round_trip("before");
  // The token came in one packet with what is in this file.
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(state / "uav1.gcs.key"); }));
  const auto old = status(*tunnel->drone).session_id;
  tunnel->lose_gcs();
  tunnel->start_gcs_again();
  tunnel->relay->pass(true, true);
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(eventually([&] { return tunnel->both_up() && status(*tunnel->drone).session_id != old; }, 15s));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  tunnel->expect_round_trip("after");
  EXPECT_TRUE(status(*tunnel->gcs).compact);
}

/// The one with the feature off takes the place of the one with it on, and the other way round.
TEST_F(EngineCompact, TheNextHandshakeAgreesAnew) {
  begin(kOn, kOn);
  for (const bool on : {false, true}) {
    tunnel->drone.reset();
    tunnel->drone_extra = FlatConfig{{"compact", on}};
    tunnel->start_drone();
    ASSERT_TRUE(eventually([&] { return tunnel->both_up(); }));
    EXPECT_EQ(status(*tunnel->gcs).compact, on);
    EXPECT_EQ(status(*tunnel->drone).compact, on);
    tunnel->expect_round_trip(on ? "compact" : "long");
  }
}

TEST_F(EngineCompact, StrangersWithShortHeadersAreCounted) {
  begin(kOn, FlatConfig{});
  const UdpPeer stranger;
  const auto port = tunnel->ports.data;
  for (int first = 0x80; first < 0x100; ++first) {
    Bytes packet(30, 0);
    packet[0] = static_cast<std::uint8_t>(first);
    stranger.send(packet, port);
  }
  // 0x80, 0xa0, 0xc0 have a form, and no such index is held; with the wide ones' index 0 nothing has.
  ASSERT_TRUE(eventually([&] {
    return total(*tunnel->gcs, "drop_malformed") == 125 && total(*tunnel->gcs, "drop_unknown") == 3;
  })) << total(*tunnel->gcs, "drop_malformed");
  EXPECT_EQ(total(*tunnel->gcs, "restarts_told"), 0u) << "an unknown index is not answered";
  const auto before = total(*tunnel->drone, "drop_malformed");
  for (int i = 0; i < 3; ++i) tunnel->relay->send_down(Bytes(30, 0x80));
  ASSERT_TRUE(eventually([&] { return total(*tunnel->drone, "drop_malformed") == before + 3; }))
      << "where they are off they have no form at all";
}

}  // namespace
}  // namespace pqcmav
