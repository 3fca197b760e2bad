// SPDX-License-Identifier: Apache-2.0
#include "shape/message_class.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "mavlink_bytes.hpp"

namespace pqcmav {
namespace {

using namespace test;
using Ids = std::vector<std::uint32_t>;

// The table of docs/protocol.md, message by message.
const Ids kCommands = {0, 4, 11, 75, 76, 77, 80, 111, 247, 253}, kControls = {69, 70, 82, 84, 86},
          kTransfers = {20,  21,    22,    23,    37,    38,    39,    40,    41,    42,   43,  44,
                        45,  46,    47,    51,    66,    73,    160,   161,   175,   176,  242, 243,
                        244, 12900, 12901, 12902, 12903, 12904, 12905, 12915, 12918, 12919},
          kCorrectionIds = {123, 233},
          kStreams = {1,  2,  24,  26,  27,  29,  30,  31,  32,  33,  35,  36,  62,  65,  74, 83,
                      85, 87, 105, 116, 129, 137, 141, 143, 168, 193, 230, 231, 241, 245, 331};

bool in(const Ids& ids, std::uint32_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

TEST(MessageClass, IsTheTable) {
  const MessageClasses classes;
  for (std::uint32_t id = 0; id < 70'000; ++id) {
    Treatment expected;
    if (in(kCommands, id)) expected = {ShapeClass::command, false, false};
    if (in(kControls, id)) expected = {ShapeClass::command, true, false};
    if (in(kTransfers, id)) expected = {ShapeClass::transfer, false, false};
    if (in(kCorrectionIds, id)) expected = {ShapeClass::transfer, false, true};
    if (id == 22) expected.parameters = true;
    expected.twice = id == 77;
    expected.file = id == 110 || id == 120;
    if (in(kStreams, id)) expected = {ShapeClass::stream, true, false};
    ASSERT_EQ(classes.of(id), expected) << id;
  }
  EXPECT_EQ(classes.of(kMavlinkIdMax), Treatment{});
}

TEST(MessageClass, CanBeChanged) {
  const MessageClasses classes({{30, ShapeClass::command},
                                {69, ShapeClass::transfer},
                                {70, ShapeClass::command},
                                {110, ShapeClass::transfer},
                                {147, ShapeClass::stream},
                                {76, ShapeClass::rest},
                                {kMavlinkIdMax, ShapeClass::stream}});
  EXPECT_EQ(classes.of(30), (Treatment{ShapeClass::command, false, false}));
  EXPECT_EQ(classes.of(69), (Treatment{ShapeClass::transfer, false, false}));
  EXPECT_EQ(classes.of(70), (Treatment{ShapeClass::command, true, false})) << "sticks stay sticks";
  EXPECT_EQ(classes.of(110), (Treatment{ShapeClass::transfer, false, false}));
  EXPECT_EQ(classes.of(147), (Treatment{ShapeClass::stream, true, false}));
  EXPECT_EQ(classes.of(76), Treatment{});
  EXPECT_EQ(classes.of(kMavlinkIdMax), (Treatment{ShapeClass::stream, true, false}));
  EXPECT_EQ(classes.of(77), (Treatment{ShapeClass::command, false, false, false, true}));
}

TEST(MessageClass, OfADatagramIsTheBestInIt) {
  const MessageClasses classes;
  const auto of = [&](const Bytes& datagram) { return classify(datagram, classes); };
  EXPECT_EQ(of(mavlink2(30, 28, {3, 4})), (DatagramClass{ShapeClass::stream, 30u << 16 | 0x304u, false}));
  EXPECT_EQ(of(mavlink1(30, 28, {3, 4})), of(mavlink2(30, 28, {3, 4}))) << "one stream in either version";
  EXPECT_EQ(of(mavlink2(76)), (DatagramClass{ShapeClass::command, {}, false}));
  EXPECT_EQ(of(mavlink2(77)), (DatagramClass{ShapeClass::command, {}, false, {}, false, true}));
  EXPECT_FALSE(of(together({mavlink2(77), mavlink2(0)})).twice) << "a heartbeat comes again by itself";
  EXPECT_FALSE(of(mavlink2(77, 33, {}, true)).twice) << "it would come behind what its signer sent later";
  EXPECT_FALSE(MessageClasses({{77, ShapeClass::rest}}).of(77).twice);
  EXPECT_EQ(of(mavlink2(70)).stream, 70u << 16 | 0x101u);
  EXPECT_EQ(of(together({mavlink2(30), mavlink2(33)})), (DatagramClass{ShapeClass::stream, {}, false}))
      << "never replaced";
  EXPECT_EQ(of(together({mavlink2(30), mavlink2(22), mavlink2(110)})),
            (DatagramClass{ShapeClass::transfer, {}, false}));
  EXPECT_EQ(of(together({mavlink2(110), mavlink2(0)})), (DatagramClass{ShapeClass::command, {}, false}));
  EXPECT_EQ(of(mavlink2(76, 33, {3, 4, 0, 5}, true)), (DatagramClass{ShapeClass::command, {}, false, 0x030405u}));
  EXPECT_EQ(of(together({mavlink2(0), mavlink2(1, 31, {1, 1, 0, 2}, true)})).signer, 0x010102u);
  EXPECT_EQ(of(mavlink2(233)), (DatagramClass{ShapeClass::transfer, {}, true}));
  EXPECT_EQ(of(together({mavlink2(22), mavlink1(22)})), (DatagramClass{ShapeClass::transfer, {}, false, {}, true}));
  EXPECT_FALSE(of(together({mavlink2(22), mavlink2(39)})).parameters);
  EXPECT_FALSE(of(together({mavlink2(22), mavlink2(0)})).parameters);
  EXPECT_FALSE(MessageClasses({{22, ShapeClass::command}}).of(22).parameters);
  EXPECT_EQ(of(together({mavlink2(233), mavlink2(233)})).corrections, true);
  EXPECT_EQ(of(together({mavlink2(233), mavlink2(22)})).corrections, false) << "a parameter does not grow old";
}

TEST(MessageClass, WhatCannotBeReadIsTheRest) {
  const MessageClasses classes;
  auto tail = mavlink2(76);
  tail.push_back(1);
  for (const auto& datagram : {Bytes{}, Bytes(50, 7), tail, Bytes(1432, 0xfd)})
    EXPECT_EQ(classify(datagram, classes), DatagramClass{});
}

}  // namespace
}  // namespace pqcmav
