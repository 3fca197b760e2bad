// SPDX-License-Identifier: Apache-2.0
#include "alarm_board.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

constexpr ByteArray<16> kField{1}, kTown{2};
constexpr auto kLasts = kAlarmLasts_s * kS;

TEST(AlarmBoard, TheWorstOfThisEndGoesToAll) {
  AlarmBoard board;
  EXPECT_EQ(board.for_peer("uav1", kField, kS).level, 0);
  board.tell("", {1, "replay"}, kS);
  board.tell("south", {2, "flood"}, kS);
  EXPECT_EQ(board.for_peer("uav1", kField, kS).kind, "flood");
  board.tell("south", {0, ""}, kS);
  EXPECT_EQ(board.for_peer("uav1", kField, kS + kLasts - 1).kind, "replay");
  EXPECT_EQ(board.for_peer("uav1", kField, kS + kLasts).level, 0) << "whoever found it has fallen silent";
}

TEST(AlarmBoard, OfADroneThoseOnItsNetworkHearAndNotItself) {
  AlarmBoard board;
  EXPECT_FALSE(board.hear("uav1", kField, {1, "loss"}, kS));
  EXPECT_TRUE(board.hear("uav1", kField, {2, "forgery"}, kS)) << "news";
  EXPECT_FALSE(board.hear("uav1", kField, {2, "forgery"}, kS)) << "no news";
  EXPECT_EQ(board.for_peer("uav2", kField, kS).kind, "forgery");
  EXPECT_EQ(board.for_peer("uav3", kTown, kS).level, 0);
  EXPECT_EQ(board.for_peer("uav1", kField, kS).level, 0);
  EXPECT_EQ(board.heard("uav1", kS).kind, "forgery");
  EXPECT_EQ(board.heard("uav2", kS).level, 0);
  EXPECT_FALSE(board.hear("uav1", kField, {0, ""}, 2 * kS));
  EXPECT_EQ(board.for_peer("uav2", kField, 2 * kS).level, 0);
}

TEST(AlarmBoard, OneThatIsNotToldAnyMoreEnds) {
  AlarmBoard board;
  board.hear("uav1", kField, {2, "forgery"}, kS);
  EXPECT_EQ(board.heard("uav1", kS + kLasts - 1).level, 2);
  EXPECT_EQ(board.heard("uav1", kS + kLasts).level, 0);
  EXPECT_EQ(board.for_peer("uav2", kField, kS + kLasts).level, 0);
  EXPECT_TRUE(board.hear("uav1", kField, {2, "forgery"}, kS + kLasts)) << "news again";
  board.tell("", {1, "flood"}, kS);
  EXPECT_EQ(board.told("", kS + kLasts - 1).kind, "flood");
  EXPECT_EQ(board.told("", kS + kLasts).level, 0);
  EXPECT_EQ(board.told("south", kS).level, 0);
}

TEST(AlarmBoard, WhoeverInventsSourcesCannotFillIt) {
  AlarmBoard board;
  for (std::size_t i = 0; i < AlarmBoard::kSourcesMost; ++i) board.tell(std::to_string(i), {1, "flood"}, kS);
  board.tell("one more", {2, "flood"}, kS);
  EXPECT_EQ(board.for_peer("uav1", kField, kS).level, 1);
  board.tell("7", {2, "flood"}, kS);
  EXPECT_EQ(board.for_peer("uav1", kField, kS).level, 2) << "one that is there may change its mind";
  board.tell("7", {0, ""}, kS);
  board.tell("one more", {2, "flood"}, kS + kLasts);
  EXPECT_EQ(board.for_peer("uav1", kField, kS + kLasts).level, 2) << "those that are over make room";
}

}  // namespace
}  // namespace pqcmav
