// SPDX-License-Identifier: Apache-2.0
#include "control/return_file.hpp"

#include <gtest/gtest.h>

#include "pqc_mav_tunnel/keystore.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::mode_of;
using test::TempFolder;

constexpr std::uint32_t kSerial = 60'000;

ReturnTicket ticket(std::uint32_t serial, std::uint8_t filling = 7) {
  ReturnTicket out;
  out.prefix.fill(filling);
  store_be(out.prefix.data(), serial);
  std::fill(out.key.mut().begin(), out.key.mut().end(), filling);
  return out;
}

void expect_same(const std::optional<ReturnTicket>& got, const ReturnTicket& wanted) {
  ASSERT_TRUE(got);
  EXPECT_EQ(got->prefix, wanted.prefix);
  EXPECT_TRUE(std::ranges::equal(got->key.view(), wanted.key.view()));
}

TEST(ReturnFile, KeepsTheNewest) {
  const TempFolder folder;
  const ReturnFile file(folder / "made/as/needed", "uav1", "north");
  EXPECT_FALSE(file.load(kSerial)) << "there is none yet";
  file.store(ticket(kSerial));
  expect_same(file.load(kSerial), ticket(kSerial));
  file.store(ticket(kSerial + 1, 9));
  expect_same(file.load(kSerial), ticket(kSerial + 1, 9));
  EXPECT_EQ(mode_of(file.path()), 0600u);
  EXPECT_EQ(mode_of(file.path().parent_path()), 0700u);
  EXPECT_EQ(std::distance(fs::directory_iterator(file.path().parent_path()), fs::directory_iterator()), 1)
      << "nothing temporary stays";
}

TEST(ReturnFile, EachDroneAndGcsHasItsOwn) {
  const TempFolder folder;
  const ReturnFile north(folder.path(), "uav1", "north"), south(folder.path(), "uav1", "south"),
      other(folder.path(), "uav2", "north");
  north.store(ticket(kSerial, 1));
  EXPECT_FALSE(south.load(kSerial));
  EXPECT_FALSE(other.load(kSerial));
  south.store(ticket(kSerial, 2));
  expect_same(north.load(kSerial), ticket(kSerial, 1));
  expect_same(south.load(kSerial), ticket(kSerial, 2));
}

TEST(ReturnFile, WhatWasMadeForOthersIsRefusedUnderAnyName) {
  const TempFolder folder;
  const ReturnFile north(folder.path(), "uav1", "north"), south(folder.path(), "uav1", "south"),
      other(folder.path(), "uav2", "north");
  north.store(ticket(kSerial));
  fs::copy_file(north.path(), south.path());
  expect_error(Errc::key_format, {"uav1.south.key", "'south'"}, [&] { (void)south.load(kSerial); });
  fs::copy_file(north.path(), other.path());
  expect_error(Errc::key_format, {"uav2.north.key", "belongs to uav1"}, [&] { (void)other.load(kSerial); });
}

TEST(ReturnFile, ATooOldOneIsRefusedAndOneFromTheFutureTaken) {
  const TempFolder folder;
  const ReturnFile file(folder.path(), "uav1", "gcs");
  file.store(ticket(kSerial));
  expect_same(file.load(kSerial + kReturnGoodForHours), ticket(kSerial));
  expect_error(Errc::key_format, {"older than 7 days"}, [&] { (void)file.load(kSerial + kReturnGoodForHours + 1); });
  expect_same(file.load(0), ticket(kSerial));
}

TEST(ReturnFile, EveryBentByteOfItIsSeen) {
  const TempFolder folder;
  const ReturnFile file(folder.path(), "uav1", "gcs");
  file.store(ticket(kSerial));
  const auto whole = test::read_text(file.path());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto bent = whole;
    bent[i] = bent[i] == 'A' ? 'B' : 'A';
    test::write_text(file.path(), bent);
    expect_error(Errc::key_format, {}, [&] { (void)file.load(kSerial); });
    test::write_text(file.path(), whole.substr(0, i));
    expect_error(Errc::key_format, {}, [&] { (void)file.load(kSerial); });
  }
}

TEST(ReturnFile, OthersMustNotReadOrReplaceIt) {
  const TempFolder folder;
  const ReturnFile file(folder.path(), "uav1", "gcs");
  file.store(ticket(kSerial));
  ASSERT_EQ(chmod(file.path().c_str(), 0640), 0);
  expect_error(Errc::key_permissions, {"chmod 600"}, [&] { (void)file.load(kSerial); });
  ASSERT_EQ(chmod(folder.path().c_str(), 0770), 0);
  expect_error(Errc::key_permissions, {"chmod 700"}, [&] { file.store(ticket(kSerial)); });
}

TEST(ReturnFile, AFolderThatCannotBeMadeIsAnError) {
  const TempFolder folder;
  test::write_text(folder / "file", "in the way");
  const ReturnFile file(folder / "file", "uav1", "gcs");
  expect_error(Errc::io, {"in the way"}, [&] { file.store(ticket(kSerial)); });
}

TEST(ReturnFile, AmongKeysItIsListedWithoutAProblem) {
  const TempFolder folder;
  ReturnFile(folder.path(), "uav1", "gcs").store(ticket(kSerial));
  const auto entries = list_keys(folder.path());
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].kind, "return");
  EXPECT_EQ(entries[0].owner, "uav1");
  EXPECT_EQ(entries[0].problem, "");
}

}  // namespace
}  // namespace pqcmav
