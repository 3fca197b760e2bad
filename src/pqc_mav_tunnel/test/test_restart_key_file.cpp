// SPDX-License-Identifier: Apache-2.0
#include "keys/restart_key_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "keys/key_file.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::mode_of;
using test::TempFolder;

Bytes copy(const Secret<kRestartKeySize>& key) { return {key.view().begin(), key.view().end()}; }
std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(RestartKeyFile, IsMadeOnFirstUseAndReadLater) {
  const TempFolder folder, other;
  const auto first = copy(load_or_make_restart_key(folder.path()));
  EXPECT_NE(first, Bytes(kRestartKeySize));
  EXPECT_EQ(mode_of(folder / "restart.key"), 0600u);
  EXPECT_EQ(files_in(folder.path()), 1);  // nothing temporary stays
  EXPECT_EQ(copy(load_or_make_restart_key(folder.path())), first);
  EXPECT_NE(copy(load_or_make_restart_key(other.path())), first);
}

TEST(RestartKeyFile, IsRefusedWhereOthersCanReadIt) {
  const TempFolder folder;
  (void)load_or_make_restart_key(folder.path());
  for (const mode_t mode : {0640, 0604, 0620, 0602}) {
    ASSERT_EQ(chmod((folder / "restart.key").c_str(), mode), 0);
    expect_error(Errc::key_permissions, {"restart.key", "chmod 600"},
                 [&] { (void)load_or_make_restart_key(folder.path()); });
  }
}

TEST(RestartKeyFile, ADamagedOneIsAnErrorAndNotReplaced) {
  const TempFolder folder;
  test::write_text(folder / "restart.key", "pqcmav-key 1\nkind: restart\n");
  expect_error(Errc::key_format, {"restart.key"}, [&] { (void)load_or_make_restart_key(folder.path()); });
  EXPECT_EQ(test::read_text(folder / "restart.key"), "pqcmav-key 1\nkind: restart\n");
}

TEST(RestartKeyFile, AnotherKindOfKeyIsRefused) {
  const TempFolder folder;
  write_key_file(folder / "restart.key", {KeyKind::psk, "psk", "gcs", SecretBytes(32)});
  expect_error(Errc::key_format, {"restart.key", "psk"}, [&] { (void)load_or_make_restart_key(folder.path()); });
  const TempFolder shorter;
  write_key_file(shorter / "restart.key", {KeyKind::restart, "restart", "gcs", SecretBytes(31)});
  expect_error(Errc::key_format, {"31 bytes"}, [&] { (void)load_or_make_restart_key(shorter.path()); });
}

TEST(RestartKeyFile, AFolderThatCannotTakeItIsAnError) {
  const TempFolder folder;
  expect_error(Errc::key_missing, {"absent"}, [&] { (void)load_or_make_restart_key(folder / "absent"); });
  ASSERT_EQ(chmod(folder.path().c_str(), 0770), 0);
  expect_error(Errc::key_permissions, {"chmod 700"}, [&] { (void)load_or_make_restart_key(folder.path()); });
}

TEST(RestartKeyFile, WhoeverIsFirstMakesItForAll) {
  const TempFolder folder;
  std::vector<Bytes> keys(8);
  {
    std::vector<std::jthread> starters;
    for (auto& key : keys) starters.emplace_back([&] { key = copy(load_or_make_restart_key(folder.path())); });
  }
  EXPECT_TRUE(std::ranges::all_of(keys, [&](const Bytes& key) { return key == keys[0]; }));
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(RestartKeyFile, IsListedWithAFingerprint) {
  const TempFolder folder;
  (void)load_or_make_restart_key(folder.path());
  const auto entries = list_keys(folder.path());
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].problem, "");
  EXPECT_EQ(entries[0].kind, "restart");
  EXPECT_EQ(entries[0].owner, "gcs");
  EXPECT_EQ(entries[0].fingerprint.size(), 39u);
}

}  // namespace
}  // namespace pqcmav
