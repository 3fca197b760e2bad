// SPDX-License-Identifier: Apache-2.0
#include "control/term_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "pqc_mav_tunnel/error.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

TEST(TermFile, TheNextRunBeginsAboveEveryTermOfThisOne) {
  test::TempFolder folder;
  TermFile file(folder.path(), "uav1");
  EXPECT_EQ(file.load(), 0U);
  for (std::uint32_t term = 1; term < 200; ++term) {
    file.keep(term);
    EXPECT_GE(TermFile(folder.path(), "uav1").load(), term);
  }
  EXPECT_LT(TermFile(folder.path(), "uav1").load(), 300U);
  EXPECT_EQ(TermFile(folder.path(), "uav2").load(), 0U);
}

TEST(TermFile, KeepsNothingWithoutAFolder) {
  TermFile file({}, "uav1");
  file.keep(7);
  EXPECT_EQ(file.load(), 0U);
}

TEST(TermFile, RefusesWhatIsNoNumber) {
  test::TempFolder folder;
  for (const char* text : {"", "x", "7x", "-1", "99999999999"}) {
    std::ofstream(folder.path() / "uav1.term") << text << '\n';
    EXPECT_THROW((void)TermFile(folder.path(), "uav1").load(), TunnelError) << text;
  }
}

TEST(TermFile, SaysWhenItCannotBeWritten) {
  test::TempFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_THROW(TermFile(folder.path() / "file", "uav1").keep(1), TunnelError);
}

}  // namespace
}  // namespace pqcmav
