// SPDX-License-Identifier: Apache-2.0
// No (key, epoch, sequence) is ever used twice: every datagram that running engines put on the wire, through rekeys
// from both sides, refused and half-finished ones, rollbacks to the suite before, senders in several threads, and ends
// that die without a word and come back. A second life of a session id with another key would pass unseen on the wire,
// so what makes keys new each time is tested besides.
#include <atomic>
#include <future>
#include <map>
#include <set>
#include <tuple>

#include "handshake_fixture.hpp"
#include "net/handshake_port.hpp"
#include "relay.hpp"
#include "session_judge.hpp"

namespace pqcmav {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr const char* kAllowed = "cs-mlkem512-chacha20poly1305-mldsa44";
constexpr const char* kForbidden = "cs-mlkem768-aesgcm-mldsa65";

/// Everything either end has sent.
class WireJudge {
 public:
  void take(Relay& relay) {
    for (const auto way : {Relay::Way::up, Relay::Way::down})
      for (const auto& packet : relay.take(way))
        if (packet.empty() || packet[0] != kRestartType)  // a restarted gcs has no key to seal it with
          add(way == Relay::Way::up, packet);
  }
  void add(bool up, ByteView packet) {
    const auto header = parse_header(packet);
    ASSERT_TRUE(header) << "not of this protocol";
    ++datagrams_;
    ASSERT_TRUE(seen_.emplace(up, header->session_id, header->epoch, header->sequence).second)
        << (up ? "the drone" : "the gcs") << " used sequence " << header->sequence << " twice";
    sessions_[header->session_id].insert(header->epoch);
  }
  [[nodiscard]] std::size_t datagrams() const { return datagrams_; }
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  /// Each handshake has a session id of its own, so an id with two epochs would be keys of two handshakes under one
  /// name.
  void expect_one_epoch_each() const {
    for (const auto& [id, epochs] : sessions_) EXPECT_EQ(epochs.size(), 1u);
  }

 private:
  std::size_t datagrams_ = 0;
  std::set<std::tuple<bool, SessionId, std::uint8_t, std::uint64_t>> seen_;
  std::map<SessionId, std::set<std::uint8_t>> sessions_;
};

TEST(NonceOnce, TheWireJudgeSeesARepetition) {
  WireJudge wire;
  Bytes packet(kOverhead);
  Header header{};
  header.epoch = 3;
  write_header(header, std::span<std::uint8_t, kHeaderSize>(packet.data(), kHeaderSize));
  wire.add(true, packet);
  wire.add(false, packet);
  header.sequence = 1;
  write_header(header, std::span<std::uint8_t, kHeaderSize>(packet.data(), kHeaderSize));
  wire.add(true, packet);
  EXPECT_EQ(wire.datagrams(), 3u);
  EXPECT_EQ(wire.sessions(), 1u);
}

/// Sends from several threads at once to whatever ports the engines have now.
class Senders {
 public:
  void to(std::uint16_t drone_plain, std::uint16_t gcs_plain) {
    drone_ = drone_plain;
    gcs_ = gcs_plain;
    if (!threads_.empty()) return;
    for (int i = 0; i < 4; ++i)
      threads_.emplace_back([this, i] {
        const UdpPeer own;
        while (!stopping_) {
          own.send("telemetry", i % 2 == 0 ? drone_.load() : gcs_.load());
          std::this_thread::sleep_for(1ms);
        }
      });
  }
  ~Senders() {
    stopping_ = true;
    for (auto& thread : threads_) thread.join();
  }

 private:
  std::atomic<std::uint16_t> drone_{0}, gcs_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

class NonceOnceOnTheWire : public ::testing::Test {
 protected:
  NonceOnceOnTheWire()
      : tunnel(
            {{"handshakes_per_drone_s", 10000.0}, {"allowed_suites", Names{kLight, kAllowed}}, {"log_level", "error"}},
            {{"log_level", "error"}}) {}
  void SetUp() override { tunnel.relay->record(true); }

  void settle() {
    ASSERT_TRUE(eventually([&] {
      wire.take(*tunnel.relay);
      return tunnel.both_up();
    }));
    senders.to(plain_port(*tunnel.drone, "uav1"), plain_port(*tunnel.gcs, "uav1"));
  }
  /// From both sides at once: to the other suite, back again, to one that is refused.
  void rekeys_from_both_sides() {
    std::atomic<int> done{0};
    const auto ask = [&](Engine& engine) {
      for (const auto* suite : {kAllowed, kLight, kForbidden, kAllowed, kLight, ""})
        done += engine.request_rekey("uav1", suite, "test", 20s).ok ? 1 : 0;
    };
    auto drone = std::async(std::launch::async, [&] { ask(*tunnel.drone); });
    auto gcs = std::async(std::launch::async, [&] { ask(*tunnel.gcs); });
    while (drone.wait_for(5ms) != std::future_status::ready || gcs.wait_for(0ms) != std::future_status::ready)
      wire.take(*tunnel.relay);
    drone.get();
    gcs.get();
    EXPECT_GE(done, 3);
    rekeys_done += done;
  }
  /// A rekey whose connection is cut, which may leave new keys at the gcs alone.
  void half_a_rekey() {
    tunnel.relay->hold_answers(true);
    auto asked =
        std::async(std::launch::async, [&] { return tunnel.drone->request_rekey("uav1", kAllowed, "test", 20s); });
    ASSERT_TRUE(eventually([&] { return state(*tunnel.drone) == LinkState::rekeying; }));
    tunnel.relay->pass_handshakes(false);
    EXPECT_FALSE(asked.get().ok);
    tunnel.relay->pass_handshakes(true);
    tunnel.relay->hold_answers(false);
  }
  /// Neither end hears a goodbye: as after kill -9, what was in memory is gone.
  void kill_drone() {
    tunnel.relay->pass(false, false);
    tunnel.drone.reset();
    wire.take(*tunnel.relay);
    tunnel.relay->pass(true, true);
    tunnel.start_drone();
  }
  void kill_gcs() {
    tunnel.relay->pass(false, false);
    tunnel.gcs.reset();
    wire.take(*tunnel.relay);
    tunnel.relay->pass(true, true);
    tunnel.start_gcs_again();
  }

  RelayedTunnel tunnel;
  WireJudge wire;
  Senders senders;
  int rekeys_done = 0;
};

TEST_F(NonceOnceOnTheWire, AcrossRekeysRestartsRollbacksAndThreads) {
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_NO_FATAL_FAILURE(rekeys_from_both_sides());
    ASSERT_NO_FATAL_FAILURE(half_a_rekey());
    ASSERT_NO_FATAL_FAILURE(settle());
    round % 2 == 0 ? kill_drone() : kill_gcs();
  }
  ASSERT_NO_FATAL_FAILURE(settle());
  tunnel.drone->stop();  // the goodbye is a packet too
  tunnel.gcs->stop();
  wire.take(*tunnel.relay);
  EXPECT_GT(wire.datagrams(), 500u);
  EXPECT_GE(rekeys_done, 3 * kRounds);
  EXPECT_GE(wire.sessions(), static_cast<std::size_t>(rekeys_done) + kRounds)
      << "each rekey and each restart is a session of its own";
  wire.expect_one_epoch_each();
}

/// One end whose random numbers repeat, as after the snapshot of a virtual machine: the other end's make the keys new.
TEST(NonceOnce, KeysAreNewWhenOneEndRepeatsItself) {
  const auto repeating = [](MutableBytes out) { std::fill(out.begin(), out.end(), std::uint8_t{0x5a}); };
  const Scene scene;
  const auto pair = Kem(*light().kem).keypair();
  for (const bool drone_repeats : {true, false}) {
    NonceJudge judge;
    std::set<SessionId> ids;
    for (int i = 0; i < 20; ++i) {
      auto params = drone_params(scene);
      auto env = gcs_env(scene);
      if (drone_repeats) {
        params.random = repeating;
      } else {
        env->random = repeating;
        env->kem_keypair = [&](const KemInfo&) {
          return EphemeralKem{KemKeyPair{pair.public_key, pair.secret_key.clone()}, false};
        };
      }
      auto outcome = run(std::move(params), env);
      ASSERT_TRUE(outcome.done());
      ids.insert(outcome.drone_keys->session_id);
      // Under a repeated session id the judge would see other keys: give each handshake a name of its own.
      outcome.drone_keys->session_id[0] = static_cast<std::uint8_t>(i);
      ASSERT_NO_FATAL_FAILURE(judge.made(*outcome.drone_keys));
    }
    EXPECT_EQ(ids.size(), drone_repeats ? 20u : 1u);
  }
}

}  // namespace
}  // namespace pqcmav
