// SPDX-License-Identifier: Apache-2.0
#include "keys/key_folders.hpp"
#include "pqc_mav_tunnel/keystore.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <map>

#include "crypto/kdf.hpp"
#include "crypto/kem_sig.hpp"
#include "hex.hpp"
#include "key_samples.hpp"
#include "keys/gcs_psk.hpp"
#include "keys/key_file.hpp"
#include "keys/restart_key_file.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::mldsa44;
using test::mode_of;
using test::read_text;
using test::TempFolder;

using Strings = std::vector<std::string>;

/// Every file below `folder` with its content.
std::map<std::string, std::string> snapshot(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) out[fs::relative(entry.path(), folder).string()] = read_text(entry.path());
  }
  return out;
}

Strings names(const fs::path& folder) {
  Strings out;
  for (const auto& [name, content] : snapshot(folder)) out.push_back(name);
  return out;
}

Bytes copy(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

TEST(Keystore, DroneIds) {
  for (const auto* id : {"a", "drone-1", "uav_02", "-", "12345678901234567890123456789012"})
    EXPECT_TRUE(valid_drone_id(id)) << id;
  for (const auto* id : {"", "A", "a b", "a/b", "..", "a.b", "\xc3\xa9", "123456789012345678901234567890123"})
    EXPECT_FALSE(valid_drone_id(id)) << id;
  EXPECT_FALSE(valid_drone_id(std::string_view("a\0", 2)));
}

TEST(Keystore, InitMakesTheDocumentedLayout) {
  const TempFolder root;
  init_keys(root / "keys", {"alpha", "bravo"}, {"mldsa44"}, true);
  EXPECT_EQ(names(root / "keys"),
            (Strings{"drones/alpha/gcs/mldsa44.pub", "drones/alpha/psk.key", "drones/alpha/sig/mldsa44.key",
                     "drones/alpha/sig/mldsa44.pub", "drones/bravo/gcs/mldsa44.pub", "drones/bravo/psk.key",
                     "drones/bravo/sig/mldsa44.key", "drones/bravo/sig/mldsa44.pub", "gcs/drones/alpha/mldsa44.pub",
                     "gcs/drones/bravo/mldsa44.pub", "gcs/psk/alpha.key", "gcs/psk/bravo.key", "gcs/sig/mldsa44.key",
                     "gcs/sig/mldsa44.pub"}));
  for (const auto& entry : fs::recursive_directory_iterator(root / "keys"))
    EXPECT_EQ(mode_of(entry.path()), entry.is_directory() ? 0700u : 0600u) << entry.path();
}

TEST(Keystore, BothEndsHoldMatchingKeys) {
  const TempFolder root;
  init_keys(root.path(), {"alpha", "bravo"}, {"mldsa44"}, true);
  const GcsKeys gcs(root / "gcs");
  const DroneKeys alpha(root / "drones/alpha", "alpha"), bravo(root / "drones/bravo", "bravo");
  EXPECT_EQ(gcs.drone_ids(), (Strings{"alpha", "bravo"}));
  EXPECT_EQ(copy(gcs.psk("alpha").view()), copy(psk_of_gcs(alpha.psk(), "gcs").view()));
  EXPECT_NE(copy(gcs.psk("alpha").view()), copy(alpha.psk().view())) << "a captured gcs plays no other";
  EXPECT_NE(copy(alpha.psk().view()), copy(bravo.psk().view()));
  const Sig sig(mldsa44());
  const auto message = as_bytes("hello");
  EXPECT_TRUE(sig.verify(alpha.gcs_public(mldsa44()), message, sig.sign(gcs.sig_secret(mldsa44()), message)));
  EXPECT_TRUE(
      sig.verify(*gcs.drone_public("alpha", mldsa44()), message, sig.sign(*alpha.own_secret(mldsa44()), message)));
  EXPECT_FALSE(
      sig.verify(*gcs.drone_public("bravo", mldsa44()), message, sig.sign(*alpha.own_secret(mldsa44()), message)));
}

TEST(Keystore, InitTwiceChangesNothingAndAddsWhatIsMissing) {
  const TempFolder root;
  init_keys(root.path(), {"alpha"}, {"mldsa44"});
  const auto first = snapshot(root.path());
  init_keys(root.path(), {"alpha"}, {"mldsa44"});
  EXPECT_EQ(snapshot(root.path()), first);
  init_keys(root.path(), {"alpha", "bravo"}, {"mldsa44", "mldsa65"});
  const auto second = snapshot(root.path());
  EXPECT_EQ(second.size(), first.size() + 2 /* another of the gcs */ + 1 /* alpha's copy */ +
                               4 /* bravo: two PSK files, two gcs keys */);
  for (const auto& [name, content] : first) EXPECT_EQ(second.at(name), content) << name;
}

TEST(Keystore, InitWithoutTokensMakesEveryAvailableAlgorithm) {
  const TempFolder root;
  init_keys(root.path(), {});
  const GcsKeys gcs(root / "gcs");
  std::size_t available = 0;
  for (const auto& sig : sigs()) {
    if (resolve(sig).empty()) continue;
    ++available;
    EXPECT_EQ(gcs.sig_secret(sig).size(), sig.secret_key) << sig.token;
    EXPECT_EQ(load_sig_public(root / "gcs" / "sig" / (std::string(sig.token) + ".pub"), sig).size(), sig.public_key);
  }
  EXPECT_GT(available, 0u);
  EXPECT_EQ(names(root.path()).size(), 2 * available);
  EXPECT_TRUE(gcs.drone_ids().empty());
}

TEST(Keystore, EachStationHasPsksOfItsOwn) {
  const TempFolder root;
  init_keys(root.path(), {"alpha"}, {"mldsa44"}, false, "north");
  const DroneKeys alpha(root / "drones/alpha", "alpha");
  EXPECT_EQ(copy(GcsKeys(root / "gcs").psk("alpha").view()), copy(psk_of_gcs(alpha.psk(), "north").view()));
  const auto before = snapshot(root.path());
  expect_error(Errc::key_format, {"gcs/psk/alpha.key", "'south'"},
               [&] { init_keys(root.path(), {"alpha"}, {"mldsa44"}, false, "south"); });
  EXPECT_EQ(snapshot(root.path()), before);
  // A second station is made from the same drones' folders.
  fs::create_directories(root / "second");
  fs::permissions(root / "second", fs::perms::owner_all);
  fs::copy(root / "drones", root / "second/drones", fs::copy_options::recursive);
  fs::remove_all(root / "second/drones/alpha/gcs");
  init_keys(root / "second", {"alpha"}, {"mldsa44"}, false, "south");
  EXPECT_EQ(copy(GcsKeys(root / "second/gcs").psk("alpha").view()), copy(psk_of_gcs(alpha.psk(), "south").view()));
  for (const auto* bad : {"", "North", "a b", "../x"})
    expect_error(Errc::config_invalid, {"gcs id"},
                 [&] { init_keys(root / "bad", {"alpha"}, {"mldsa44"}, false, bad); });
  EXPECT_FALSE(fs::exists(root / "bad"));
}

TEST(Keystore, AGcsCannotMakeTheDronesOwnPsk) {
  const TempFolder root;
  init_keys(root.path(), {"alpha"}, {"mldsa44"});
  ASSERT_TRUE(fs::remove(root / "drones/alpha/psk.key"));
  const auto before = snapshot(root.path());
  init_keys(root.path(), {"alpha"}, {"mldsa44"});
  EXPECT_EQ(snapshot(root.path()), before) << "the drone lives elsewhere";
}

TEST(Keystore, WhatOneSideLacksIsMadeFromTheOther) {
  for (const auto* missing : {"gcs/psk/alpha.key", "drones/alpha/gcs/mldsa44.pub"}) {
    const TempFolder root;
    init_keys(root.path(), {"alpha"}, {"mldsa44"});
    const auto before = snapshot(root.path());
    ASSERT_TRUE(fs::remove(root / missing));
    init_keys(root.path(), {"alpha"}, {"mldsa44"});
    EXPECT_EQ(snapshot(root.path()), before) << missing;
  }
}

TEST(Keystore, InitRefusesKeysThatContradictEachOther) {
  const TempFolder root;
  init_keys(root / "a", {"alpha"}, {"mldsa44"});
  init_keys(root / "b", {"alpha"}, {"mldsa44"});
  fs::copy_file(root / "b/drones/alpha/psk.key", root / "a/drones/alpha/psk.key", fs::copy_options::overwrite_existing);
  expect_error(Errc::key_format, {"gcs/psk/alpha.key", "drones/alpha/psk.key", "does not belong"},
               [&] { init_keys(root / "a", {"alpha"}, {"mldsa44"}); });
}

TEST(Keystore, InitRefusesHalfAPair) {
  for (const auto* missing : {"gcs/sig/mldsa44.pub", "gcs/sig/mldsa44.key"}) {
    const TempFolder root;
    init_keys(root.path(), {}, {"mldsa44"});
    ASSERT_TRUE(fs::remove(root / missing));
    expect_error(Errc::key_missing, {"other half", missing}, [&] { init_keys(root.path(), {}, {"mldsa44"}); });
  }
}

TEST(Keystore, InitKeepsTheKeyOfADroneThatHasLeft) {
  const TempFolder root;
  init_keys(root.path(), {"alpha"}, {"mldsa44"}, true);
  const auto known = read_text(root / "gcs/drones/alpha/mldsa44.pub");
  fs::remove_all(root / "drones/alpha");
  init_keys(root.path(), {"alpha"}, {"mldsa44"}, true);
  EXPECT_EQ(read_text(root / "gcs/drones/alpha/mldsa44.pub"), known);
  EXPECT_FALSE(fs::exists(root / "drones/alpha/sig"));
}

TEST(Keystore, InitChecksItsArgumentsBeforeItWrites) {
  const TempFolder root;
  expect_error(Errc::config_invalid, {"\"Alpha\""}, [&] { init_keys(root / "keys", {"ok", "Alpha"}, {"mldsa44"}); });
  expect_error(Errc::config_invalid, {"stands for the ground station"},
               [&] { init_keys(root / "keys", {"gcs"}, {"mldsa44"}); });
  expect_error(Errc::config_invalid, {"\"rsa\"", "mldsa65"},
               [&] { init_keys(root / "keys", {"ok"}, {"mldsa44", "rsa"}); });
  EXPECT_FALSE(fs::exists(root / "keys"));
}

TEST(Keystore, InitOnAFullDiskLeavesOnlyWholeFiles) {
  const TempFolder root;
  struct rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{2500, before.rlim_max};  // the public half fits, the secret does not
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error(Errc::io, {"cannot be written"}, [&] { init_keys(root / "keys", {"alpha"}, {"mldsa44"}); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(names(root / "keys").empty());
  init_keys(root / "keys", {"alpha"}, {"mldsa44"});
  EXPECT_EQ(names(root / "keys").size(), 5u);
}

TEST(Keystore, InitRemovesWhatAKilledOneLeft) {
  const TempFolder root;
  init_keys(root / "keys", {"alpha"}, {"mldsa44"});
  const auto before = names(root / "keys");
  const auto psk = root / "keys" / "gcs" / "psk";
  const auto left = temporary_beside(psk / "bravo.key"), fresh = temporary_beside(psk / "bravo.key");
  const auto own = psk / ".notes";
  for (const auto& file : {left, fresh, own}) {
    test::write_text(file, "half a key", 0600);
    if (file != fresh) fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  init_keys(root / "keys", {"alpha"}, {"mldsa44"});
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh));  // perhaps of one that still runs
  EXPECT_TRUE(fs::exists(own));
  EXPECT_EQ(names(root / "keys").size(), before.size() + 2);
}

TEST(Keystore, AFileInThePlaceOfAFolder) {
  const TempFolder root;
  test::write_text(root / "gcs", "x");
  expect_error(Errc::io, {"a file of that name is in the way"}, [&] { init_keys(root.path(), {}, {"mldsa44"}); });
}

TEST(Keystore, ExportGivesADroneAllItNeeds) {
  const TempFolder root;
  init_keys(root / "keys", {"alpha", "bravo"}, {"mldsa44", "mldsa65"}, true);
  export_drone(root / "keys", "alpha", (root / "stick/").string());
  EXPECT_EQ(snapshot(root / "stick"), snapshot(root / "keys/drones/alpha"));
  EXPECT_EQ(mode_of(root / "stick"), 0700u);
  expect_error(Errc::io, {"already exists"}, [&] { export_drone(root / "keys", "alpha", root / "stick"); });
  expect_error(Errc::key_missing, {"keys/drones/carol/psk.key"},
               [&] { export_drone(root / "keys", "carol", root / "other"); });
  expect_error(Errc::config_invalid, {"drone id"}, [&] { export_drone(root / "keys", "../alpha", root / "other"); });
  ASSERT_EQ(chmod((root / "keys/drones/alpha/sig/mldsa44.key").c_str(), 0644), 0);
  expect_error(Errc::key_permissions, {"chmod 600"}, [&] { export_drone(root / "keys", "alpha", root / "other"); });
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path()), {}), 2) << "a failed export leaves something behind";
}

TEST(Keystore, AbsentKeys) {
  const TempFolder root;
  init_keys(root.path(), {"alpha"}, {"mldsa44"});
  const GcsKeys gcs(root / "gcs");
  const DroneKeys drone(root / "drones/alpha");
  EXPECT_FALSE(gcs.drone_public("alpha", mldsa44()));
  EXPECT_FALSE(drone.own_secret(mldsa44()));
  expect_error(Errc::key_missing, {"gcs/sig/mldsa65.key"}, [&] { (void)gcs.sig_secret(*find_sig("mldsa65")); });
  expect_error(Errc::key_missing, {"gcs/mldsa65.pub"}, [&] { (void)drone.gcs_public(*find_sig("mldsa65")); });
  expect_error(Errc::key_missing, {"psk/carol.key"}, [&] { (void)gcs.psk("carol"); });
  expect_error(Errc::key_missing, {"1-32 characters"}, [&] { (void)gcs.psk("../sig/mldsa44"); });
  expect_error(Errc::key_missing, {"1-32 characters"}, [&] { (void)gcs.drone_public("..", mldsa44()); });
  expect_error(Errc::key_missing, {"nowhere", "keys init"}, [&] { (void)GcsKeys(root / "nowhere").drone_ids(); });
}

TEST(Keystore, KeysOfAnotherDroneAreRefused) {
  const TempFolder root;
  init_keys(root.path(), {"alpha", "bravo"}, {"mldsa44"}, true);
  const DroneKeys drone(root / "drones/alpha", "bravo");
  expect_error(Errc::key_format, {"belongs to alpha, not to bravo"}, [&] { (void)drone.psk(); });
  expect_error(Errc::key_format, {"belongs to alpha, not to bravo"}, [&] { (void)drone.own_secret(mldsa44()); });
  fs::copy_file(root / "gcs/drones/alpha/mldsa44.pub", root / "gcs/drones/bravo/mldsa44.pub",
                fs::copy_options::overwrite_existing);
  expect_error(Errc::key_format, {"belongs to alpha, not to bravo"},
               [&] { (void)GcsKeys(root / "gcs").drone_public("bravo", mldsa44()); });
  fs::copy_file(root / "drones/alpha/sig/mldsa44.pub", root / "drones/alpha/gcs/mldsa44.pub",
                fs::copy_options::overwrite_existing);
  expect_error(Errc::key_format, {"belongs to alpha, not to gcs"}, [&] { (void)drone.gcs_public(mldsa44()); });
}

TEST(Keystore, GcsKeysAreKeptOnceRead) {
  const TempFolder root;
  init_keys(root.path(), {"alpha"}, {"mldsa44"});
  const DroneKeys drone(root / "drones/alpha");
  const auto first = drone.gcs_public(mldsa44());
  fs::remove_all(root / "drones/alpha/gcs");
  EXPECT_EQ(drone.gcs_public(mldsa44()), first);
  EXPECT_THROW((void)DroneKeys(root / "drones/alpha").gcs_public(mldsa44()), TunnelError);
}

TEST(Keystore, Fingerprints) {
  // SHA-256 over lp(kind) || lp(algorithm) || lp(key), spelt out.
  const Bytes key(mldsa44().public_key, 7);
  Bytes input = test::unhex("0000000a");
  append(input, as_bytes("sig-public"));
  append(input, test::unhex("00000007"));
  append(input, as_bytes("mldsa44"));
  append(input, test::unhex("00000520"));
  append(input, key);
  const auto hash = test::hex(sha256({input}));
  std::string expected;
  for (std::size_t i = 0; i < 32; i += 4) {
    if (i > 0) expected += ' ';
    expected += hash.substr(i, 4);
  }
  EXPECT_EQ(fingerprint_public(mldsa44(), key), expected);

  const Psk one(std::span<const std::uint8_t, 32>(Bytes(32, 1))), two(std::span<const std::uint8_t, 32>(Bytes(32, 2)));
  EXPECT_EQ(fingerprint_psk(one).size(), 39u);
  EXPECT_NE(fingerprint_psk(one), fingerprint_psk(two));
}

TEST(Keystore, ListKnowsTheRestartKey) {
  const TempFolder root;
  init_keys(root.path(), {}, {"mldsa44"});
  const auto key = load_or_make_restart_key(root / "gcs");
  const auto keys = list_keys(root.path());
  const auto entry = std::ranges::find(keys, "restart", &KeyEntry::kind);
  ASSERT_NE(entry, keys.end());
  EXPECT_EQ(entry->problem, "");
  EXPECT_EQ(entry->fingerprint, fingerprint_restart(key));
  EXPECT_EQ(fs::relative(entry->path, root.path()), "gcs/restart.key");
}

/// What an operator signs a fleet's list with is in a format of its own.
TEST(Keystore, ListLeavesTheFleetsOwnKeysOut) {
  const TempFolder root;
  init_keys(root.path(), {"fleet"}, {"mldsa44"});
  const auto before = list_keys(root.path()).size();
  fs::create_directories(root / "fleet/stations");
  test::write_text(root / "fleet/operator.pub", "another format\n");
  test::write_text(root / "fleet/stations/north.pub", "another format\n");
  EXPECT_EQ(list_keys(root.path()).size(), before);
}

TEST(Keystore, AListThatIsNotWholeSaysSo) {
  const TempFolder root;
  init_keys(root.path(), {"alpha"}, {"mldsa44"});  // five keys
  const auto keys = list_keys(root.path(), 4);
  ASSERT_EQ(keys.size(), 5u);
  EXPECT_NE(keys.back().problem.find("more than 4 keys"), std::string::npos);
  EXPECT_EQ(list_keys(root.path(), 5).back().problem, "");
}

TEST(Keystore, AnExportTakesNoKeyOfTheStationAlong) {
  const TempFolder root;
  init_keys(root / "keys", {"alpha"}, {"mldsa44"});
  (void)load_or_make_restart_key(root / "keys/gcs");
  export_drone(root / "keys", "alpha", root / "stick");
  EXPECT_EQ(names(root / "stick"), (Strings{"gcs/mldsa44.pub", "psk.key"}));
}

TEST(Keystore, ListShowsFingerprintsAndProblemsButNoKeys) {
  const TempFolder root;
  init_keys(root.path(), {"alpha"}, {"mldsa44"});
  auto keys = list_keys(root.path());
  ASSERT_EQ(keys.size(), 5u);
  EXPECT_TRUE(std::ranges::is_sorted(keys, {}, &KeyEntry::path));
  std::map<std::string, const KeyEntry*> by_path;
  for (const auto& entry : keys) {
    EXPECT_EQ(entry.problem, "") << entry.path;
    by_path[fs::relative(entry.path, root.path()).string()] = &entry;
  }
  EXPECT_EQ(by_path.at("gcs/psk/alpha.key")->kind, "psk");
  EXPECT_EQ(by_path.at("gcs/psk/alpha.key")->owner, "alpha");
  EXPECT_NE(by_path.at("gcs/psk/alpha.key")->fingerprint, by_path.at("drones/alpha/psk.key")->fingerprint);
  EXPECT_EQ(by_path.at("gcs/sig/mldsa44.key")->kind, "sig-secret");
  EXPECT_EQ(by_path.at("gcs/sig/mldsa44.key")->algorithm, "mldsa44");
  EXPECT_EQ(by_path.at("gcs/sig/mldsa44.key")->fingerprint, by_path.at("drones/alpha/gcs/mldsa44.pub")->fingerprint);

  ASSERT_EQ(chmod((root / "gcs/psk/alpha.key").c_str(), 0644), 0);
  ASSERT_TRUE(fs::remove(root / "gcs/sig/mldsa44.pub"));
  fs::rename(root / "drones/alpha/psk.key", root / "drones/alpha/psk.pub");
  std::map<std::string, std::string> problems;
  for (const auto& entry : list_keys(root.path()))
    problems[fs::relative(entry.path, root.path()).string()] = entry.problem;
  EXPECT_NE(problems.at("gcs/psk/alpha.key").find("chmod 600"), std::string::npos);
  EXPECT_NE(problems.at("gcs/sig/mldsa44.key").find("mldsa44.pub"), std::string::npos);
  EXPECT_NE(problems.at("drones/alpha/psk.pub").find("does not match its name"), std::string::npos);
  EXPECT_EQ(problems.at("drones/alpha/gcs/mldsa44.pub"), "");
  expect_error(Errc::key_missing, {"nowhere"}, [&] { list_keys(root / "nowhere"); });
}

}  // namespace
}  // namespace pqcmav
