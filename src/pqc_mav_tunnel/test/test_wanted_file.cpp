// SPDX-License-Identifier: Apache-2.0
#include "console/wanted_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using namespace test;

TEST(WantedFile, KeepsWhatWasAskedLast) {
  const TempFolder folder;
  const WantedFile file(folder / "gcs.sock");
  EXPECT_EQ(file.open(), std::nullopt);
  for (const bool open : {true, false, true}) {
    EXPECT_EQ(file.keep(open), "");
    EXPECT_EQ(file.open(), open);
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "gcs.wanted"));
  file.forget();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(file.open(), std::nullopt);
  EXPECT_EQ(WantedFile().keep(true), "");
}

TEST(WantedFile, WhatMakesNoSenseOpensNothing) {
  const TempFolder folder;
  const WantedFile file(folder / "gcs.sock");
  for (const auto* text : {"", "open", "open\nor not\n", "OPEN\n", "closed\n"}) {
    write_text(folder / "gcs.wanted", text);
    EXPECT_EQ(file.open(), false) << text;
  }
  std::filesystem::remove(folder / "gcs.wanted");
  ASSERT_EQ(::mkfifo((folder / "gcs.wanted").c_str(), 0600), 0);
  EXPECT_EQ(file.open(), false) << "and is not waited for";
  std::filesystem::remove(folder / "gcs.wanted");
  write_text(folder / "elsewhere", "open\n");
  std::filesystem::create_symlink(folder / "elsewhere", folder / "gcs.wanted");
  EXPECT_EQ(file.open(), std::nullopt) << "a link is nobody's wish";
  if (::geteuid() != 0) return;
  std::filesystem::remove(folder / "gcs.wanted");
  write_text(folder / "gcs.wanted", "open\n");
  ASSERT_EQ(::chown((folder / "gcs.wanted").c_str(), 4711, 4711), 0);
  EXPECT_EQ(file.open(), std::nullopt) << "another user's";
}

TEST(WantedFile, SaysWhereItCannotBeKept) {
  const WantedFile file("/nowhere/gcs.sock");
  EXPECT_NE(file.keep(false).find("/nowhere/gcs.wanted"), std::string::npos);
}

}  // namespace
}  // namespace pqcmav
