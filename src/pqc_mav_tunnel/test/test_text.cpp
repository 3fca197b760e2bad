// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

TEST(Text, WhatActsIsWrittenOut) {
  EXPECT_EQ(one_line("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(one_line("\x1b[2J\a"), "\\x1b[2J\\x07");
  EXPECT_EQ(one_line(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(one_line("\x7f"), "\\x7f");
  EXPECT_EQ(one_line("\u009b1m"), "\\xc2\\x9b1m") << "an ESC [ of one character";
  EXPECT_EQ(one_line("\u2028\u2029"), "\\xe2\\x80\\xa8\\xe2\\x80\\xa9");
  EXPECT_EQ(one_line("\u202ex\u2066"), "\\xe2\\x80\\xaex\\xe2\\x81\\xa6") << "turns the direction";
}

TEST(Text, WhatIsOnlyShownStays) {
  for (const std::string text : {"", "plain", "a \\ b", "Zürich 30 °C", "日本", "\U0001f681", "a\u00a0b"})
    EXPECT_EQ(one_line(text), text);
}

TEST(Text, BytesThatAreNoUtf8AreWrittenOut) {
  EXPECT_EQ(one_line("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(one_line("\xc0\x8a"), "\\xc0\\x8a") << "a line feed in two bytes";
  EXPECT_EQ(one_line("\xe0\x80\x9b"), "\\xe0\\x80\\x9b") << "overlong";
  EXPECT_EQ(one_line("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a pair";
  EXPECT_EQ(one_line("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last";
}

TEST(Text, BytesAsHex) {
  EXPECT_EQ(to_hex({}), "");
  EXPECT_EQ(to_hex(ByteArray<4>{0x00, 0x0f, 0xa0, 0xff}), "000fa0ff");
}

}  // namespace
}  // namespace pqcmav
