// SPDX-License-Identifier: Apache-2.0
// Everything that can be wrong with a datagram on the encrypted port, and the one counter each of it ends in.
#include <random>

#include "raw_drone.hpp"
#include "relay.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr const char* kDrops[] = {"drop_malformed", "drop_unknown",   "drop_seq_old",
                                  "drop_replay",    "drop_auth_fail", "drop_decrypt_fail"};
using Tally = std::map<std::string, std::uint64_t>;

Tally totals_of(const Engine& engine) {
  Tally out;
  for (const auto& [name, value] : engine.totals()) out.emplace(name, value);
  // What looks like a datagram of a handshake and is none.
  out["handshakes"] = out["hs_malformed"] + out["hs_unknown"] + out["hs_tag"];
  return out;
}

/// Sends datagrams to an engine that nobody else talks to, and checks that exactly the expected counters moved.
class Judge {
 public:
  explicit Judge(const Engine& engine) : engine_(engine), start_(totals_of(engine)) {}
  /// One datagram that ends in `outcome` (a drop, "delivered" or "control").
  void expect(const std::string& outcome) {
    ++expected_[outcome];
    if (++sent_ % 64 == 0) wait();  // never more than a socket buffer holds
  }
  void wait() const {
    // A datagram is counted when it comes and once more when its outcome is known: the latter is the end of it.
    ASSERT_TRUE(eventually([&] { return outcomes(totals_of(engine_)) - outcomes(start_) >= sent_; }))
        << sent_ << " were sent";
  }
  void check() {
    wait();
    const auto now = totals_of(engine_);
    EXPECT_EQ(now.at("enc_rx_datagrams") - start_.at("enc_rx_datagrams"), sent_);
    for (const auto* name : {"delivered", "control", "handshakes"})
      EXPECT_EQ(now.at(name) - start_.at(name), expected_[name]) << name;
    for (const auto* name : kDrops) EXPECT_EQ(now.at(name) - start_.at(name), expected_[name]) << name;
    expect_all_accounted_for(engine_);
  }

 private:
  static std::uint64_t outcomes(const Tally& totals) {
    std::uint64_t sum = totals.at("delivered") + totals.at("control") + totals.at("handshakes");
    for (const auto* name : kDrops) sum += totals.at(name);
    return sum;
  }

  const Engine& engine_;
  const Tally start_;
  Tally expected_;
  std::uint64_t sent_ = 0;
};

/// A gcs with a drone whose every datagram the test writes.
class EngineAttack : public ::testing::Test {
 protected:
  explicit EngineAttack(const FlatConfig& more = {})
      : gcs(start(with(gcs_values(keys, {"uav1", "uav2"}),
                       with({{"drone.uav1.plain_peer", ground.address().text()}}, more)))) {
    drone = std::make_unique<RawDrone>(keys, *gcs, "uav1");
    EXPECT_TRUE(drone->connected()) << drone->outcome.reason;
  }
  /// The first packet, so that the session is the gcs' current one.
  void open_session() {
    drone->send(drone->seal("first"));
    ASSERT_EQ(ground.receive_text(), "first");
  }
  /// What becomes of a manipulated copy of a packet whose own sequence has not been used and whose successors have not
  /// either.
  static std::string fate_of(const Bytes& forged, const Bytes& genuine, std::uint64_t used_below) {
    if (forged == genuine) return "delivered";
    if (forged.size() < kOverhead) return "drop_malformed";
    if (forged[0] == 0x33) return "handshakes";
    if (forged[0] != 0x03 && forged[0] != 0x13 && forged[0] != 0x23) return "drop_malformed";
    if (!std::equal(forged.begin() + 5, forged.begin() + 13, genuine.begin() + 5) || forged[21] != genuine[21])
      return "drop_unknown";
    if (!std::equal(forged.begin() + 1, forged.begin() + 5, genuine.begin() + 1)) return "drop_malformed";
    if (forged[0] == 0x23) return "drop_malformed";  // this session takes no bundles
    const auto sequence = load_be<std::uint64_t>(forged.data() + 13);
    if (sequence >= kSequenceLimit) return "drop_seq_old";
    return sequence < used_below ? "drop_replay" : "drop_auth_fail";
  }

  KeyFolders keys{Names{"uav1", "uav2"}};
  UdpPeer ground;
  std::unique_ptr<Engine> gcs;
  std::unique_ptr<RawDrone> drone;
};

TEST_F(EngineAttack, TruncatedAtEveryLength) {
  open_session();
  const auto genuine = drone->seal("a position report");
  Judge judge(*gcs);
  for (std::size_t size = 0; size < genuine.size(); ++size) {
    drone->send(ByteView(genuine).first(size));
    judge.expect(size < kOverhead ? "drop_malformed" : "drop_auth_fail");
  }
  for (const std::size_t more : {1, 2, 100, 1200}) {
    auto longer = genuine;
    append(longer, Bytes(more));
    drone->send(longer);
    judge.expect("drop_auth_fail");
  }
  drone->send(genuine);
  judge.expect("delivered");
  judge.check();
  EXPECT_EQ(ground.receive_text(), "a position report") << "no forgery used up its sequence number";
}

TEST_F(EngineAttack, EveryBitOfEveryByteFlipped) {
  open_session();
  for (const auto type : {FrameType::data, FrameType::control}) {
    const Bytes content{7, 0, 0};  // a KEEPALIVE, so that a data frame turned into a control frame would be well-formed
    const auto genuine = drone->seal(content, type);
    const auto sequence = load_be<std::uint64_t>(genuine.data() + 13);
    Judge judge(*gcs);
    for (std::size_t bit = 0; bit < genuine.size() * 8; ++bit) {
      auto forged = genuine;
      forged[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
      drone->send(forged);
      judge.expect(fate_of(forged, genuine, sequence));
    }
    drone->send(genuine);
    judge.expect(type == FrameType::data ? "delivered" : "control");
    judge.check();
  }
}

TEST_F(EngineAttack, Replays) {
  open_session();
  std::vector<Bytes> packets;
  for (int i = 0; i < 100; ++i) packets.push_back(drone->seal("packet " + std::to_string(i)));
  Judge judge(*gcs);
  for (const auto& packet : packets) {
    drone->send(packet);
    judge.expect("delivered");
  }
  for (const auto& packet : packets) {
    drone->send(packet);
    judge.expect("drop_replay");
  }
  judge.check();
  EXPECT_EQ(ground.drain().size(), packets.size());
}

TEST_F(EngineAttack, ReorderedWithinAndBeyondTheWindow) {
  open_session();
  const auto window = kWindowBits;
  std::vector<Bytes> packets;  // sequences 1..
  for (std::size_t i = 0; i < window + 10; ++i) packets.push_back(drone->seal("x"));
  Judge judge(*gcs);
  drone->send(packets.back());  // the newest first
  judge.expect("delivered");
  // Of the sequences below it, window - 1 are still inside.
  for (std::size_t i = packets.size() - 1; i-- > 0;) {
    drone->send(packets[i]);
    judge.expect(packets.size() - 1 - i < window ? "delivered" : "drop_seq_old");
  }
  judge.check();
  // One packet at each depth up to the window's last: class i holds 2^i of them. What is dropped has no depth.
  const auto stats = gcs->stats()[0];
  const auto& depth = stats.window_depth;
  for (std::size_t i = 0; i < depth.size(); ++i)
    EXPECT_EQ(depth[i], (std::size_t{2} << i) <= window ? std::size_t{1} << i : 0) << i;
  // The newest came first and jumped over all others.
  EXPECT_EQ(value_of(stats.counters, "window_skipped"), packets.size() - 1);
}

TEST_F(EngineAttack, AForgedHighSequenceDoesNotMoveTheWindow) {
  open_session();
  const auto genuine = drone->seal("genuine");
  Judge judge(*gcs);
  for (const std::uint64_t sequence :
       {std::uint64_t{2}, std::uint64_t{1000}, std::uint64_t{1} << 20, std::uint64_t{1} << 40, kSequenceLimit - 1}) {
    auto forged = genuine;
    store_be(forged.data() + 13, sequence);
    drone->send(forged);
    judge.expect("drop_auth_fail");
  }
  for (const std::uint64_t sequence : {kSequenceLimit, kSequenceLimit + 1, ~std::uint64_t{0}}) {
    auto forged = genuine;
    store_be(forged.data() + 13, sequence);
    drone->send(forged);
    judge.expect("drop_seq_old");
  }
  drone->send(genuine);
  judge.expect("delivered");
  judge.check();
}

TEST_F(EngineAttack, AGenuineJumpAheadIsTakenAndWhatItLeftBehindIsOld) {
  open_session();
  const auto before = drone->seal("before");
  drone->skip_to(std::uint64_t{1} << 47);
  const auto after = drone->seal("after");
  Judge judge(*gcs);
  drone->send(after);
  judge.expect("delivered");
  drone->send(before);
  judge.expect("drop_seq_old");
  judge.check();
}

TEST_F(EngineAttack, UnknownSessions) {
  open_session();
  const auto genuine = drone->seal("genuine");
  Judge judge(*gcs);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    auto forged = genuine;
    store_be(forged.data() + 5, random());
    drone->send(forged);
    judge.expect("drop_unknown");
  }
  drone->send(genuine);
  judge.expect("delivered");
  judge.check();
}

TEST_F(EngineAttack, AnotherDronesKeyIsNoKey) {
  open_session();
  RawDrone other(keys, *gcs, "uav2");
  ASSERT_TRUE(other.connected());
  other.skip_to(10);  // a sequence that uav1 has not used
  auto packet = other.seal("I am uav1");
  std::copy(drone->session_id.begin(), drone->session_id.end(), packet.begin() + 5);
  Judge judge(*gcs);
  other.send(packet);
  judge.expect("drop_auth_fail");
  judge.check();
  EXPECT_TRUE(ground.drain().empty());
}

TEST_F(EngineAttack, PacketsOfItsOwnDirectionAreRefused) {
  // What the gcs itself sealed comes back to it: the keys of the two directions differ.
  open_session();
  ground.send("down", plain_port(*gcs, "uav1"));
  std::optional<Bytes> reflected;
  while ((reflected = drone->socket.receive())) {
    if ((*reflected)[0] == 0x03) break;
  }
  ASSERT_TRUE(reflected);
  ASSERT_GE(load_be<std::uint64_t>(reflected->data() + 13), 1u)
      << "the drone has used sequence 0 alone, so that the window is not what refuses it";
  Judge judge(*gcs);
  drone->send(*reflected);
  judge.expect("drop_auth_fail");
  judge.check();
}

TEST_F(EngineAttack, ControlFramesWithUnusableContent) {
  open_session();
  Judge judge(*gcs);
  const std::vector<Bytes> unusable = {
      {},                                           // empty
      {7},                                          // half a TLV header
      {7, 0},                                       //
      {7, 0, 1},                                    // a length that does not fit
      {7, 0, 1, 9},                                 // a KEEPALIVE has no value
      {1, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},  // a PROBE has 12 bytes
      {7, 0, 0, 6, 0, 1},                           // good, then bad: nothing of it counts
      {6, 0, 1, 1, 4, 0, 2, 1, 1},                  // a CLOSE that must not be acted on
      {5, 0, 3, 0, 0, 0},                           //
      {200, 255, 255},                              // an unknown type, too long
  };
  for (const auto& content : unusable) {
    drone->send(drone->seal(content, FrameType::control));
    judge.expect("drop_decrypt_fail");
  }
  const std::vector<Bytes> good = {
      {7, 0, 0}, {200, 0, 2, 1, 2}, {4, 0, 1, 0}, {1, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}};
  for (const auto& content : good) {
    drone->send(drone->seal(content, FrameType::control));
    judge.expect("control");
  }
  judge.check();
  EXPECT_EQ(state(*gcs), LinkState::up) << "the CLOSE in an unusable frame was acted on";
  EXPECT_EQ(stat(*gcs, "drop_decrypt_fail"), unusable.size());
}

TEST_F(EngineAttack, NoiseOfEverySize) {
  open_session();
  std::mt19937_64 random(3);
  Judge judge(*gcs);
  for (std::size_t size = 0; size < 400; ++size) {
    Bytes noise(size);
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
    const bool header = size >= kOverhead && (noise[0] == 0x03 || noise[0] == 0x13 || noise[0] == 0x23);
    drone->send(noise);
    judge.expect(header ? "drop_unknown" : size > 0 && noise[0] == 0x33 ? "handshakes" : "drop_malformed");
  }
  const Bytes huge(65507, 2);
  drone->send(huge);
  judge.expect("drop_malformed");
  judge.check();
}

TEST_F(EngineAttack, PacketsOfAKeyThatIsGoneAreUnknown) {
  gcs.reset();
  gcs = start(quick(with(gcs_values(keys), {{"drone.uav1.plain_peer", ground.address().text()}})));
  RawDrone first(keys, *gcs, "uav1");
  ASSERT_TRUE(first.connected());
  first.send(first.seal("one"));
  ASSERT_EQ(ground.receive_text(), "one");
  const auto late = first.seal("late"), too_late = first.seal("too late");
  RawDrone second(keys, *gcs, "uav1", first);
  ASSERT_TRUE(second.connected()) << second.outcome.reason;
  second.send(second.seal("two"));
  ASSERT_EQ(ground.receive_text(), "two");
  first.send(late);
  EXPECT_EQ(ground.receive_text(), "late") << "within the grace time";
  // Not before the key is gone: ask with forgeries, which are unknown from then on.
  auto forged = too_late;
  forged.back() ^= 1;
  ASSERT_TRUE(eventually([&] {
    const auto before = total(*gcs, "drop_unknown");
    first.send(forged);
    return eventually([&] { return total(*gcs, "drop_unknown") > before; }, 50ms);
  }));
  Judge judge(*gcs);
  first.send(too_late);
  judge.expect("drop_unknown");
  judge.check();
  EXPECT_TRUE(ground.drain().empty());
}

TEST_F(EngineAttack, CountsWhatIsMissingAndWhatComesTwiceAtOnce) {
  open_session();
  const auto grown = [&, before = totals_of(*gcs)](const char* name) {
    return totals_of(*gcs).at(name) - before.at(name);
  };
  const auto old = drone->seal("old");
  drone->send(old);
  ASSERT_EQ(ground.receive_text(), "old");
  std::this_thread::sleep_for(250ms);
  drone->send(old);  // kept by somebody
  ASSERT_TRUE(eventually([&] { return grown("drop_replay") == 1; }));
  EXPECT_EQ(grown("doubled"), 0u);
  const auto lost = drone->seal("lost"), late = drone->seal("late"), next = drone->seal("next");
  drone->send(next);
  drone->send(late);
  drone->send(late);  // a network sends it twice
  ASSERT_TRUE(eventually([&] { return grown("drop_replay") == 2; }));
  EXPECT_EQ(grown("doubled"), 1u);
  EXPECT_EQ(grown("skipped"), 2u);
  EXPECT_EQ(grown("skips"), 1u);
  EXPECT_EQ(grown("late"), 1u);
}

class EngineRoaming : public EngineAttack {
 protected:
  std::string peer() const { return status(*gcs).peer; }
  void say_down(const std::string& text) { ground.send(text, plain_port(*gcs, "uav1")); }
};

TEST_F(EngineRoaming, TheGcsFollowsWhoAnswersAndNobodyElse) {
  open_session();
  ASSERT_EQ(peer(), drone->socket.address().text());
  UdpPeer elsewhere("127.0.0.2"), attacker("127.0.0.3");

  const auto replayed = drone->seal("will be replayed"), overtaken = drone->seal("will be overtaken");
  drone->send(replayed);
  ASSERT_EQ(ground.receive_text(), "will be replayed");

  // Somebody sends forgeries, replays, and a genuine packet that he held back.
  auto forged = drone->seal("never sent");
  forged.back() ^= 1;
  drone->send_from(attacker, forged);
  drone->send_from(attacker, replayed);
  ASSERT_TRUE(eventually([&] { return total(*gcs, "drop_auth_fail") == 1 && total(*gcs, "drop_replay") == 1; }));

  // The drone's address changes: the old one is dead, the new one answers.
  drone->send_from(elsewhere, drone->seal("from elsewhere"));
  ASSERT_EQ(ground.receive_text(), "from elsewhere");
  ASSERT_TRUE(eventually([&] {
    say_down("to elsewhere");
    drone->send_from(elsewhere, drone->seal("from elsewhere"));
    return drone->receive_text(elsewhere, true, 20ms) == "to elsewhere";
  }));
  ASSERT_TRUE(eventually([&] {
    drone->send_from(elsewhere, drone->seal("from elsewhere"));
    (void)drone->receive_text(elsewhere, true, 20ms);  // answers challenges
    return peer() == elsewhere.address().text();
  }));
  EXPECT_EQ(stat(*gcs, "roams"), 1u);

  // One that was overtaken long ago moves nothing.
  drone->send_from(attacker, overtaken);
  ASSERT_TRUE(eventually([&] { return ground.receive_text() == "will be overtaken"; }));
  say_down("still to elsewhere");
  ASSERT_TRUE(eventually([&] { return drone->receive_text(elsewhere, true, 20ms) == "still to elsewhere"; }));
  EXPECT_EQ(stat(*gcs, "roams"), 1u);
}

/// Copies that overtake the drone's own packets, from an address that does not answer: it gets nothing for long.
TEST_F(EngineRoaming, CopiesThatOvertakeDivertNothing) {
  open_session();
  UdpPeer attacker("127.0.0.3");
  const auto home = drone->socket.address().text();
  std::size_t diverted = 0, commands = 0, copied = 0;
  const auto end = std::chrono::steady_clock::now() + 3s;
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    const auto packet = drone->seal("report");
    drone->send_from(attacker, packet);  // wins every race
    copied += packet.size() + 28;
    drone->send(packet);
    ASSERT_EQ(ground.receive_text(), "report");
    say_down("command " + std::to_string(i));
    ++commands;
    ASSERT_EQ(drone->receive_text(drone->socket), "command " + std::to_string(i)) << "arrives where the drone is";
    for (const auto& stolen : attacker.drain()) diverted += stolen.size() + 28;
    EXPECT_EQ(peer(), home);
  }
  EXPECT_GT(commands, 20u);
  EXPECT_LE(diverted, 3 * copied) << "copies of some; none instead";
  EXPECT_EQ(stat(*gcs, "roams"), 0u);
}

/// F5: one packet with a forged source must not turn the gcs against a third party.
TEST_F(EngineRoaming, OneForgedSourceDrawsThreeTimesItsBytesAtMost) {
  open_session();
  UdpPeer victim("127.0.0.4");
  const auto copied = drone->seal("copied");
  drone->send_from(victim, copied);
  ASSERT_EQ(ground.receive_text(), "copied");
  std::size_t bytes = 0;
  const auto end = std::chrono::steady_clock::now() + 3s;
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    say_down("telemetry for the drone, twenty times as long as what was copied, and at a pace of fifty a second");
    for (const auto& packet : victim.drain()) bytes += packet.size();
    std::this_thread::sleep_for(20ms);
  }
  for (const auto& packet : victim.drain()) bytes += packet.size();
  EXPECT_LE(bytes, 3 * (copied.size() + 28));
}

/// Somebody without a key whose copies come first from the first datagram on, and who passes on all but the commands:
/// both addresses answer, so both are served, and the drone loses nothing.
TEST(EngineOvertaken, WhoWinsTheFirstRaceTakesNoCommandAway) {
  RelayedTunnel tunnel;
  tunnel.drone.reset();
  tunnel.relay->overtake();
  tunnel.start_drone();
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  ASSERT_TRUE(eventually([&] { return status(*tunnel.gcs).peer == tunnel.relay->overtaker().text(); }))
      << "he won, and is where the gcs believes the drone";
  tunnel.send_up("here");  // so that the drone knows where its autopilot is
  ASSERT_EQ(tunnel.ground.receive_text(), "here");
  // By so much as his copies come earlier, only he is known.
  ASSERT_TRUE(eventually([&] {
    tunnel.send_down("ready");
    return tunnel.autopilot.receive_text(50ms) == "ready";
  }));
  for (int i = 0; i < 50; ++i) {
    const auto text = "command " + std::to_string(i);
    tunnel.send_down(text);
    auto heard = tunnel.autopilot.receive_text();
    while (heard == "ready") heard = tunnel.autopilot.receive_text();
    ASSERT_EQ(heard, text);
  }
}

TEST(EngineOnTheAir, NothingOfTheContentShows) {
  RelayedTunnel tunnel;
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.relay->record(true);
  const std::string secret = "MAVLink HEARTBEAT of uav1 over the home position";
  for (int i = 0; i < 20; ++i) tunnel.expect_round_trip(secret);
  std::size_t packets = 0;
  for (const auto way : {Relay::Way::up, Relay::Way::down})
    for (const auto& packet : tunnel.relay->take(way)) {
      ++packets;
      ASSERT_TRUE(parse_header(packet));
      for (std::size_t i = 0; i + 8 <= secret.size(); ++i)
        ASSERT_EQ(as_text(packet).find(secret.substr(i, 8)), std::string::npos);
    }
  EXPECT_GE(packets, 40u);
}

/// The other side of the tunnel: what a drone makes of bad datagrams from where its gcs is.
TEST(EngineAttackOnTheDrone, EveryByteFlippedEveryLengthAndReplays) {
  RelayedTunnel tunnel({}, {{"degraded_after_s", 100.0}, {"reconnect_after_s", 100.0}});
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.expect_round_trip("hello");
  // From now on only the test speaks to the drone.
  tunnel.relay->pass(true, false);
  tunnel.relay->record(true);
  tunnel.send_down("command");
  Bytes genuine;
  ASSERT_TRUE(eventually([&] {
    for (auto& packet : tunnel.relay->take(Relay::Way::down))
      if (packet.size() == kOverhead + 7 && packet[0] == 0x03) genuine = packet;
    return !genuine.empty();
  }));
  const auto sequence = load_be<std::uint64_t>(genuine.data() + 13);
  // What passed before the cut has been received by now, or the tallies below would not be exact.
  std::uint64_t last = 0;
  ASSERT_TRUE(eventually([&] {
    const auto now = total(*tunnel.drone, "enc_rx_datagrams");
    return std::exchange(last, now) == now;
  }));
  Judge judge(*tunnel.drone);
  for (std::size_t size = 0; size < genuine.size(); ++size) {
    tunnel.relay->send_down(ByteView(genuine).first(size));
    judge.expect(size < kOverhead ? "drop_malformed" : "drop_auth_fail");
  }
  for (std::size_t i = 0; i < genuine.size(); ++i) {
    auto forged = genuine;
    forged[i] ^= 0x40;
    tunnel.relay->send_down(forged);
    const bool sequence_byte = i >= 13 && i < 21;
    const auto forged_sequence = load_be<std::uint64_t>(forged.data() + 13);
    if (sequence_byte && forged_sequence < sequence)
      judge.expect("drop_replay");
    else if (sequence_byte && forged_sequence >= kSequenceLimit)
      judge.expect("drop_seq_old");
    else
      judge.expect(i == 0              ? "handshakes"
                   : i < 5             ? "drop_malformed"
                   : i < 13 || i == 21 ? "drop_unknown"
                                       : "drop_auth_fail");
  }
  tunnel.relay->send_down(genuine);
  judge.expect("delivered");
  tunnel.relay->send_down(genuine);
  judge.expect("drop_replay");
  judge.check();
  EXPECT_EQ(tunnel.autopilot.receive_text(), "command");
  EXPECT_TRUE(tunnel.autopilot.drain().empty());
}

}  // namespace
}  // namespace pqcmav
