// SPDX-License-Identifier: Apache-2.0
// Every way in which somebody else could put a key in the place of ours.
#include "keys/key_path.hpp"

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include "key_samples.hpp"
#include "keys/key_folders.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::kPskText;
using test::TempFolder;
using test::write_text;

constexpr uid_t kOther = 65534;

/// top/mid/keys/psk.key, with modes 0755, 0755 and 0700.
class KeyPath : public testing::Test {
 protected:
  KeyPath() {
    for (const auto& folder : {top_, mid_, keys_}) {
      fs::create_directory(folder);
      set_mode(folder, folder == keys_ ? 0700 : 0755);
    }
    write_text(file_, kPskText);
  }
  static void set_mode(const fs::path& path, mode_t mode) { ASSERT_EQ(chmod(path.c_str(), mode), 0); }
  static void give_away(const fs::path& path) { ASSERT_EQ(lchown(path.c_str(), kOther, kOther), 0); }
  static bool root() { return geteuid() == 0; }
  static void refused(const fs::path& file, const fs::path& culprit, const std::string& cure) {
    expect_error(Errc::key_permissions, {culprit.string(), "run: " + cure}, [&] { load_psk(file); });
  }
  void accepted(const fs::path& file) { EXPECT_NO_THROW(load_psk(file)); }

  TempFolder folder_;
  const fs::path top_ = folder_ / "top", mid_ = top_ / "mid", keys_ = mid_ / "keys", file_ = keys_ / "psk.key";
};

#define NEEDS_ROOT() \
  if (!root()) GTEST_SKIP() << "giving a file to another user needs root"

TEST_F(KeyPath, OwnFilesAreAccepted) { accepted(file_); }

TEST_F(KeyPath, AFolderFarAboveThatOthersCanWriteTo) {
  for (const mode_t mode : {0777, 0757, 0702}) {
    set_mode(top_, mode);
    refused(file_, top_, "chmod go-w " + top_.string());
  }
  set_mode(top_, 01777);
  accepted(file_);  // sticky: only the owner of 'mid' can replace it
}

TEST_F(KeyPath, TheKeyFolderItselfMayNotBeStickyEither) {
  set_mode(keys_, 01777);
  refused(file_, keys_, "chmod 700 " + keys_.string());
}

TEST_F(KeyPath, AKeyOfAnotherUser) {
  NEEDS_ROOT();
  give_away(file_);
  refused(file_, file_, "chown -h 0 " + file_.string());
}

TEST_F(KeyPath, AKeyFolderOfAnotherUser) {
  NEEDS_ROOT();
  give_away(keys_);
  refused(file_, keys_, "chown -h 0 " + keys_.string());
}

TEST_F(KeyPath, RootIsToldHowToTryWhatAServiceWillDo) {
  NEEDS_ROOT();
  const auto* other = getpwnam("daemon");
  if (other == nullptr) GTEST_SKIP() << "no user daemon here";
  ASSERT_EQ(chown(keys_.c_str(), other->pw_uid, other->pw_gid), 0);
  refused(file_, keys_, "chown -h 0 " + keys_.string() + "; if daemon is to run this, start it by: runuser -u daemon");
}

TEST_F(KeyPath, AFolderFarAboveOfAnotherUser) {
  NEEDS_ROOT();
  give_away(top_);
  refused(file_, top_, "chown -h 0 " + top_.string());
  // Sticky does not bind the owner of the folder.
  set_mode(top_, 01777);
  refused(file_, top_, "chown -h 0 " + top_.string());
}

TEST_F(KeyPath, WhatAnotherUserPutIntoAStickyFolder) {
  NEEDS_ROOT();
  set_mode(top_, 01777);
  give_away(mid_);
  refused(file_, mid_, "chown -h 0 " + mid_.string());
}

TEST_F(KeyPath, ALinkOfAnotherUserInAStickyFolder) {
  NEEDS_ROOT();
  const auto open = folder_ / "open";
  fs::create_directory(open);
  set_mode(open, 01777);
  const auto link = open / "keys";
  fs::create_directory_symlink(keys_, link);
  accepted(link / "psk.key");
  give_away(link);
  refused(link / "psk.key", link, "chown -h 0 " + link.string());
}

TEST_F(KeyPath, TheWayThroughALinkCountsToo) {
  const auto other = folder_ / "other";
  fs::create_directory(other);
  set_mode(other, 0755);
  fs::create_directory_symlink("../top/mid", other / "relative");
  fs::create_directory_symlink(folder_ / "top/mid", other / "absolute");
  fs::create_directory_symlink("../top/mid/keys/..", other / "winding");
  for (const auto* name : {"relative", "absolute", "winding"}) {
    const auto file = other / name / "keys" / "psk.key";
    accepted(file);
    set_mode(top_, 0777);
    refused(file, top_, "chmod go-w " + top_.string());
    set_mode(top_, 0755);
    set_mode(other, 0777);
    refused(file, other, "chmod go-w " + other.string());
    set_mode(other, 0755);
  }
}

TEST_F(KeyPath, ARelativePathIsCheckedUpToTheRoot) {
  const auto before = fs::current_path();
  fs::current_path(keys_);
  accepted("psk.key");
  accepted("../keys/psk.key");
  set_mode(top_, 0777);
  refused("psk.key", top_, "chmod go-w " + top_.string());
  refused("../keys/psk.key", top_, "chmod go-w " + top_.string());
  fs::current_path(before);
}

TEST_F(KeyPath, AGroupThatIsTheUsersOwnMayWrite) {
  NEEDS_ROOT();
  set_mode(top_, 0775);
  accepted(file_);  // group root, as which nobody else is listed
  ASSERT_EQ(chown(top_.c_str(), 0, kOther), 0);
  refused(file_, top_, "chmod go-w " + top_.string());
}

TEST_F(KeyPath, ALoopOfLinksAndWhatIsNotThere) {
  fs::create_symlink("loop", folder_ / "loop");
  expect_error(Errc::key_missing, {"loop"}, [&] { check_key_path(folder_ / "loop"); });
  EXPECT_NO_THROW(check_key_path(folder_ / "nothing" / "here"));
  EXPECT_NO_THROW(check_key_path(file_ / "below a file"));
}

TEST_F(KeyPath, NothingIsMadeWhereItCouldBeReplaced) {
  init_keys(mid_ / "all", {"alpha"}, {"mldsa44"}, false);
  const auto bad = folder_ / "bad";
  fs::create_directory(bad);
  set_mode(bad, 0777);
  for (const auto& place : {bad / "keys", bad / "deep" / "keys"}) {
    expect_error(Errc::key_permissions, {bad.string(), "chmod go-w"},
                 [&] { init_keys(place, {"alpha"}, {"mldsa44"}, false); });
    expect_error(Errc::key_permissions, {bad.string(), "chmod go-w"},
                 [&] { export_drone(mid_ / "all", "alpha", place); });
  }
  EXPECT_TRUE(fs::is_empty(bad));
  if (!root()) return;
  set_mode(bad, 0755);
  give_away(bad);
  expect_error(Errc::key_permissions, {bad.string(), "chown -h 0"},
               [&] { init_keys(bad / "keys", {"alpha"}, {"mldsa44"}, false); });
  expect_error(Errc::key_permissions, {bad.string(), "chown -h 0"},
               [&] { export_drone(mid_ / "all", "alpha", bad / "keys"); });
  EXPECT_TRUE(fs::is_empty(bad));
}

}  // namespace
}  // namespace pqcmav
