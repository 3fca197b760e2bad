// SPDX-License-Identifier: Apache-2.0
// Starting and stopping: what is refused with which sentence, and that nothing is left over.
#include <cctype>

#include "keys/key_folders.hpp"
#include "raw_drone.hpp"

namespace pqcmav {
namespace {

using namespace test;
namespace fs = std::filesystem;

void expect_start_error(Errc code, std::initializer_list<std::string> words, const FlatConfig& values) {
  expect_error(code, words, [&] { start(values); });
}

TEST(EngineStart, PortsThatAreInUse) {
  const KeyFolders keys;
  const auto first = start(with(gcs_values(keys), {{"drone.uav1.plain_bind", "127.0.0.1:0"}}));
  const auto ports = first->ports();
  const auto text = [](std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); };
  expect_start_error(Errc::port_in_use, {"encrypted packets (UDP)", text(ports.data)},
                     with(gcs_values(keys), {{"data_port", ports.data}}));
  expect_start_error(Errc::port_in_use, {"plaintext MAVLink of uav1", text(ports.plain[0].second)},
                     with(gcs_values(keys), {{"drone.uav1.plain_bind", text(ports.plain[0].second)}}));
}

TEST(EngineStart, AnEngineThatFailedToStartMayTryAgain) {
  const KeyFolders keys;
  auto blocker = start(gcs_values(keys));
  const auto port = blocker->ports().data;
  Engine engine(EngineConfig::from_flat(with(gcs_values(keys), {{"data_port", port}})));
  expect_error(Errc::port_in_use, {}, [&] { engine.start(); });
  expect_error(Errc::state, {}, [&] { (void)engine.status(); });
  blocker.reset();
  engine.start();
  EXPECT_EQ(engine.ports().data, port);
}

TEST(EngineStart, AddressesThatCannotBe) {
  const KeyFolders keys;
  expect_start_error(Errc::address, {"203.0.113.1", "'bind'"}, with(gcs_values(keys), {{"bind", "203.0.113.1"}}));
  expect_start_error(Errc::address, {"no-such-host.invalid"},
                     with(gcs_values(keys), {{"bind", "no-such-host.invalid"}}));
}

TEST(EngineStart, AnOpenPlaintextPortIsFoundWhereOnlyTheSystemKnowsTheAddress) {
  const KeyFolders keys;
  expect_start_error(Errc::config_invalid, {"'drone.uav1.plain_bind'", "plain_allow_remote"},
                     with(gcs_values(keys), {{"drone.uav1.plain_bind", "[::%1]:0"}, {"drone.uav1.plain_peer", ""}}));
}

TEST(EngineStart, APeerThatDoesNotResolveIsSaidAndTriedAgain) {
  const KeyFolders keys;
  for (const auto* bind : {"", "127.0.0.1"}) {
    const auto drone = start(with(drone_values(keys, "uav1", 1), {{"peer", "no-such-host.invalid"}, {"bind", bind}}));
    ASSERT_TRUE(eventually([&] { return status(*drone).handshakes_failed >= 2; })) << bind;
    EXPECT_NE(status(*drone).last_error.find("Cannot resolve 'no-such-host.invalid'"), std::string::npos)
        << status(*drone).last_error;
    EXPECT_TRUE(state(*drone) == LinkState::down || state(*drone) == LinkState::handshaking) << bind;
    EXPECT_TRUE(status(*drone).blacklisted_suites.empty()) << "the suite is not to blame";
  }
}

TEST(EngineStart, APeerOfAnotherKindThanTheSocketIsSaid) {
  const KeyFolders keys;
  const auto drone = start(with(drone_values(keys, "uav1", 1), {{"peer", "::1"}}));
  ASSERT_TRUE(eventually([&] { return status(*drone).last_error.find("'bind'") != std::string::npos; }))
      << status(*drone).last_error;
}

TEST(EngineStart, NobodyAnswersThere) {
  const KeyFolders keys;
  UdpPeer silent;
  const auto drone = start(drone_values(keys, "uav1", silent.address().port()));
  ASSERT_TRUE(eventually([&] {
    return status(*drone).last_error.find("No answer yet from the gcs at 127.0.0.1:") != std::string::npos;
  })) << "long before the attempt ends";
  EXPECT_EQ(status(*drone).handshakes_failed, 0u);
  EXPECT_TRUE(silent.receive(0ms)) << "it asks all the time";
}

/// Where the gcs listens and how the drone names it.
struct Route {
  const char *gcs_bind, *peer, *drone_bind;
};
class EngineRoutes : public ::testing::TestWithParam<Route> {};

TEST_P(EngineRoutes, CarryBothWays) {
  const auto& route = GetParam();
  if (std::string(route.gcs_bind).find(':') != std::string::npos && !has_ipv6())
    GTEST_SKIP() << "no IPv6 on this machine";
  Tunnel tunnel({{"bind", route.gcs_bind}}, {{"peer", route.peer}, {"bind", route.drone_bind}});
  ASSERT_TRUE(tunnel.connect()) << status(*tunnel.drone).last_error;
  expect_round_trip(tunnel, "over this route");
}

INSTANTIATE_TEST_SUITE_P(Routes, EngineRoutes,
                         ::testing::Values(Route{"127.0.0.1", "localhost", ""},
                                           Route{"127.0.0.1", "localhost", "127.0.0.1"}, Route{"", "127.0.0.1", ""},
                                           Route{"::1", "::1", ""}, Route{"::1", "::1", "::1"},
                                           Route{"::", "127.0.0.1", ""}, Route{"::", "::1", ""},
                                           Route{"127.0.0.1", "127.0.0.1", "::"}, Route{"", "127.0.0.2", ""},
                                           Route{"::", "127.0.0.2", ""}));

TEST(EngineStart, StoppingTwiceAndStartingTwice) {
  Tunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  expect_error(Errc::state, {"already"}, [&] { tunnel.gcs->start(); });
  for (auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
    const auto ports = engine->ports();
    engine->stop();
    engine->stop();
    EXPECT_EQ(state(*engine), LinkState::down);
    EXPECT_EQ(status(*engine).session_id, "");
    EXPECT_EQ(engine->ports().data, ports.data) << "the last picture stays readable";
    EXPECT_FALSE(engine->totals().empty());
    expect_error(Errc::state, {"once"}, [&] { engine->start(); });
    EXPECT_TRUE(engine->events().closed());
  }
}

TEST(EngineStart, StoppedEnginesGiveTheirPortsBackAtOnce) {
  const KeyFolders keys;
  const auto first = start(gcs_values(keys));
  const auto ports = first->ports();
  first->stop();
  const auto second =
      start(with(gcs_values(keys), {{"data_port", ports.data},
                                    {"drone.uav1.plain_bind", "127.0.0.1:" + std::to_string(ports.plain[0].second)}}));
  EXPECT_EQ(second->ports().data, ports.data);
}

TEST(EngineStart, NothingToReadBeforeTheStart) {
  const KeyFolders keys;
  Engine engine(EngineConfig::from_flat(gcs_values(keys)));
  expect_error(Errc::state, {"not been started"}, [&] { (void)engine.ports(); });
  expect_error(Errc::state, {"not been started"}, [&] { (void)engine.stats(); });
  expect_error(Errc::state, {"not been started"}, [&] { (void)engine.totals(); });
  expect_error(Errc::state, {"not been started"}, [&] { (void)engine.links(); });
  expect_error(Errc::state, {"not been started"}, [&] { (void)engine.request_rekey("uav1", "", "", 1s); });
  engine.stop();
}

/// Stopping while everything is busy must neither hang nor crash.
TEST(EngineStart, StoppingInTheMiddleOfThings) {
  for (int i = 0; i < 10; ++i) {
    Tunnel tunnel;
    if (i % 2 == 0) {
      ASSERT_TRUE(tunnel.connect());
    }
    std::atomic<bool> stopping{false};
    std::thread traffic([&] {
      const auto port = plain_port(*tunnel.drone, "uav1");
      while (!stopping) tunnel.autopilot.send("x", port);
    });
    std::thread rekeys([&] {
      while (!stopping) (void)tunnel.drone->request_rekey("uav1", "", "", 1s);
    });
    std::thread readers([&] {
      while (!stopping) {
        (void)tunnel.gcs->status();
        (void)tunnel.drone->links();
        (void)tunnel.gcs->totals();
      }
    });
    if (i % 3 == 0) tunnel.gcs->stop();
    tunnel.drone->stop();
    tunnel.gcs->stop();
    stopping = true;
    traffic.join();
    rekeys.join();
    readers.join();
  }
}

class EngineKeys : public ::testing::Test {
 protected:
  FlatConfig drone_config() const { return drone_values(keys, "uav1", 1); }
  FlatConfig gcs_config() const { return gcs_values(keys); }
  static void expect_refused(Errc code, std::initializer_list<std::string> words, const FlatConfig& values) {
    expect_error(code, words, [&] { const Engine engine(EngineConfig::from_flat(values)); });
  }
  KeyFolders keys;
};

TEST_F(EngineKeys, Missing) {
  fs::remove(keys.drone("uav1") + "/gcs/mldsa44.pub");
  expect_refused(Errc::key_missing, {"gcs/mldsa44.pub"}, drone_config());
  fs::remove(keys.drone("uav1") + "/psk.key");
  expect_refused(Errc::key_missing, {"psk.key"}, drone_config());
  fs::remove(keys.gcs() + "/psk/uav1.key");
  expect_refused(Errc::key_missing, {"psk/uav1.key"}, gcs_config());
  expect_refused(Errc::key_missing, {"nowhere"}, with(drone_config(), {{"keys", "/nowhere"}}));
}

/// The lines an engine logged so far that contain `words`.
std::vector<std::string> lines_with(Engine& engine, const std::string& words) {
  EventLog log(engine);
  log.gather();
  std::vector<std::string> out;
  for (const auto& event : log.all())
    if (const auto* line = std::get_if<LogEvent>(&event.what);
        line != nullptr && line->text.find(words) != std::string::npos)
      out.push_back(line->text);
  return out;
}

TEST_F(EngineKeys, TheGcsServesTheSuitesWhoseSigningKeysItHas) {
  fs::remove(keys.gcs() + "/sig/mldsa65.key");
  const auto gcs = start(with(gcs_config(), {{"allowed_suites", Names{"cs-mlkem768-aesgcm-mldsa65", kLight}}}));
  const auto lines = lines_with(*gcs, "No signing key for");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("ML-DSA-65"), std::string::npos) << lines[0];
  EXPECT_EQ(lines[0].find("ML-DSA-44"), std::string::npos) << lines[0];
  const auto ports = gcs->ports();
  const auto drone = start(drone_values(keys, "uav1", ports.data));
  ASSERT_TRUE(eventually([&] { return up(*gcs) && up(*drone); }));
  const auto refused = drone->request_rekey("uav1", "cs-mlkem768-aesgcm-mldsa65", "", 20s);
  EXPECT_FALSE(refused.ok);
  EXPECT_NE(refused.message.find("no signing key"), std::string::npos) << refused.message;
  EXPECT_TRUE(up(*drone));
}

TEST_F(EngineKeys, WithoutARestrictionOneLineNamesAllThatIsMissing) {
  Engine gcs(EngineConfig::from_flat(gcs_config()));  // has ML-DSA-44 and -65
  const auto lines = lines_with(gcs, "No signing key for");
  ASSERT_EQ(lines.size(), 1u);
  for (const auto* missing : {"ML-DSA-87", "Falcon-512", "SPHINCS+"})
    EXPECT_NE(lines[0].find(missing), std::string::npos) << lines[0];
  Engine narrow(EngineConfig::from_flat(with(gcs_config(), {{"allowed_suites", Names{kLight}}})));
  EXPECT_TRUE(lines_with(narrow, "No signing key for").empty());
}

TEST_F(EngineKeys, ADronesOwnSuitesCountToo) {
  fs::remove(keys.gcs() + "/sig/mldsa65.key");
  const FlatConfig own{{"allowed_suites", Names{"cs-mlkem768-aesgcm-mldsa65"}},
                       {"drone.uav1.allowed_suites", Names{kLight}}};
  const Engine engine(EngineConfig::from_flat(with(gcs_config(), own)));
}

TEST_F(EngineKeys, AGcsThatCanServeNothingDoesNotStart) {
  fs::remove(keys.gcs() + "/sig/mldsa65.key");
  expect_refused(Errc::key_missing, {"None of the allowed suites", "ML-DSA-65", "keys init"},
                 with(gcs_config(), {{"allowed_suites", Names{"cs-mlkem768-aesgcm-mldsa65"}}}));
  fs::remove_all(keys.gcs() + "/sig");
  expect_refused(Errc::key_missing, {"None of the allowed suites", "ML-DSA-44", "Falcon-512"}, gcs_config());
}

TEST_F(EngineKeys, ASignatureIsAskedForAndThereIsNoKey) {
  expect_refused(Errc::key_missing, {"'sign' is on", "keys init --sign"}, with(drone_config(), {{"sign", true}}));
}

TEST_F(EngineKeys, ReadableByOthers) {
  for (const auto& [file, config] : {std::pair{keys.drone("uav1") + "/psk.key", drone_config()},
                                     std::pair{keys.gcs() + "/psk/uav1.key", gcs_config()},
                                     std::pair{keys.gcs() + "/sig/mldsa65.key", gcs_config()}}) {
    ASSERT_EQ(chmod(file.c_str(), 0640), 0);
    expect_refused(Errc::key_permissions, {file, "chmod"}, config);
    ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  }
}

TEST_F(EngineKeys, WrongLengthOrAlgorithm) {
  const auto psk = keys.drone("uav1") + "/psk.key";
  const auto good = read_text(psk);
  write_text(psk, good.substr(0, good.size() / 2));
  expect_refused(Errc::key_format, {"psk.key"}, drone_config());
  write_text(psk, good);
  fs::copy_file(keys.drone("uav1") + "/gcs/mldsa65.pub", keys.drone("uav1") + "/gcs/mldsa44.pub",
                fs::copy_options::overwrite_existing);
  expect_refused(Errc::key_format, {"mldsa44.pub", "mldsa65"}, drone_config());
}

TEST_F(EngineKeys, OfAnotherDrone) {
  const KeyFolders two(Names{"uav1", "uav2"});
  expect_refused(Errc::key_format, {"uav1", "uav2"}, with(drone_values(two, "uav1", 1), {{"drone_id", "uav2"}}));
}

/// Every form in which 32 secret bytes could leak into text.
std::vector<std::string> forms(ByteView secret) {
  static constexpr char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string lower, encoded;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const auto byte : secret) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", byte);
    lower += text;
    bits = bits << 8 | byte;
    for (count += 8; count >= 6; count -= 6) encoded += base64[bits >> (count - 6) & 63];
  }
  std::string upper = lower;
  for (auto& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  // Pieces, so that a part of it counts too.
  return {lower.substr(0, 16), upper.substr(0, 16), encoded.substr(0, 16), std::string(as_text(secret.first(8)))};
}

TEST(EngineSecrets, AppearInNothingThatAHostSees) {
  auto folders = std::make_unique<KeyFolders>(Names{"uav1"}, Names{"mldsa44", "mldsa65"}, true);
  std::vector<std::string> needles;
  const auto add = [&](ByteView secret) {
    for (auto& form : forms(secret.first(32))) needles.push_back(form);
  };
  const auto& sig = *find_sig("mldsa44");
  const auto psk = load_psk(folders->drone("uav1") + "/psk.key");
  const auto gcs_secret = load_sig_secret(folders->gcs() + "/sig/mldsa44.key", sig),
             own_secret = load_sig_secret(folders->drone("uav1") + "/sig/mldsa44.key", sig);
  for (const auto secret : {psk.view(), std::span<const std::uint8_t, 32>(gcs_secret.view().subspan<32, 32>()),
                            std::span<const std::uint8_t, 32>(own_secret.view().subspan<32, 32>())})
    add(secret);

  Tunnel tunnel(std::move(folders), {{"log_level", "debug"}}, {{"log_level", "debug"}, {"sign", true}});
  ASSERT_TRUE(tunnel.connect());
  std::string seen;
  // Successes, refusals, impostors, attacks: whatever makes the engines talk.
  for (const auto* suite : {"", "cs-mlkem768-aesgcm-mldsa65", "nonsense", "cs-mlkem1024-aesgcm-mldsa87"}) {
    seen += tunnel.drone->request_rekey("uav1", suite, "test", 20s).message;
    seen += tunnel.gcs->request_rekey("uav1", suite, "test", 20s).message;
  }
  const KeyFolders wrong;
  seen += RawDrone(wrong, *tunnel.gcs, "uav1").outcome.reason;
  tunnel.send_up(std::string(2000, 'x'));
  tunnel.drone->stop();
  ASSERT_TRUE(eventually([&] { return state(*tunnel.gcs) == LinkState::down; }));
  for (auto* engine : {tunnel.gcs.get(), tunnel.drone.get()}) {
    const auto config = engine->config();
    for (const auto& [key, value] : config.effective)
      std::visit(
          [&](const auto& each) {
            using Value = std::decay_t<decltype(each)>;
            if constexpr (std::is_same_v<Value, std::string>)
              seen += key + "=" + each + "\n";
            else if constexpr (std::is_same_v<Value, Names>)
              for (const auto& item : each) seen += key + "=" + item + "\n";
          },
          value);
    for (const auto& s : engine->status())
      for (const auto& text : {s.drone_id, s.suite, s.session_id, s.peer, s.plain_local, s.plain_peer, s.last_error})
        seen += text + "\n";
    EventLog log(*engine);
    log.gather();
    EXPECT_GT(log.all().size(), 5u);
    for (const auto& event : log.all()) {
      seen += event.drone_id;
      if (const auto* change = std::get_if<StateEvent>(&event.what)) seen += change->reason + "\n";
      if (const auto* line = std::get_if<LogEvent>(&event.what)) seen += line->text + "\n";
      if (const auto* handshake = std::get_if<HandshakeEvent>(&event.what))
        seen += handshake->reason + handshake->suite + handshake->peer + "\n";
    }
  }
  EXPECT_GT(seen.size(), 1000u);
  for (const auto& needle : needles)
    EXPECT_EQ(seen.find(needle), std::string::npos) << "a secret shows: " << seen.substr(seen.find(needle), 80);
}

TEST(EngineSecrets, AppearInNoErrorText) {
  const KeyFolders keys;
  const auto file = keys.drone("uav1") + "/psk.key";
  const auto good = read_text(file);
  const auto psk = load_psk(file);
  const auto needles = forms(psk.view());
  // The key file damaged at every byte: whatever is said about it, it is not the content.
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto damaged = good;
    damaged[i] = damaged[i] == '#' ? '%' : '#';
    write_text(file, damaged);
    try {
      const Engine engine(EngineConfig::from_flat(drone_values(keys, "uav1", 1)));
    } catch (const TunnelError& error) {
      for (const auto& needle : needles)
        ASSERT_EQ(std::string(error.what()).find(needle), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace pqcmav
