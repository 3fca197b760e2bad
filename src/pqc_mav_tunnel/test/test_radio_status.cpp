// SPDX-License-Identifier: Apache-2.0
#include "line/radio_status.hpp"

#include <gtest/gtest.h>

#include "hex.hpp"

#include "mavlink_stream.hpp"
#include "route/mavlink_framer.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr std::uint8_t kExtra = 185;

Bytes status_of(bool second, std::uint8_t component = 68, std::size_t size = 9) {
  auto out = second ? mavlink2(109, size, {51, component}) : mavlink1(109, size, {51, component});
  const Bytes fields{0x34, 0x12, 0x78, 0x56, 200, 190, 42, 60, 50};  // rxerrors, fixed, rssi, remrssi, txbuf, noises
  std::copy_n(fields.begin(), std::min(size, fields.size()), out.begin() + (second ? 10 : 6));
  return summed(out, kExtra);
}

TEST(RadioStatus, OfBothVersions) {
  for (const bool second : {false, true}) {
    const auto word = parse_radio_status(status_of(second));
    ASSERT_TRUE(word);
    EXPECT_EQ(word->errors, 0x1234);
    EXPECT_EQ(word->fixed, 0x5678);
    EXPECT_EQ(word->rssi, 200);
    EXPECT_EQ(word->remote_rssi, 190);
    EXPECT_EQ(word->free_percent, 42);
    EXPECT_EQ(word->noise, 60);
    EXPECT_EQ(word->remote_noise, 50);
  }
}

TEST(RadioStatus, ZerosThatWereCutOffAreThere) {
  const auto word = parse_radio_status(status_of(true, 68, 7));
  ASSERT_TRUE(word);
  EXPECT_EQ(word->free_percent, 42);
  EXPECT_EQ(word->noise, 0);
}

TEST(RadioStatus, NothingElseIsOne) {
  EXPECT_FALSE(parse_radio_status(status_of(true, 1)));       // another component
  EXPECT_FALSE(parse_radio_status(status_of(false, 68, 8)));  // too short for version 1
  EXPECT_FALSE(parse_radio_status(status_of(true, 68, 10)));  // too long
  EXPECT_FALSE(parse_radio_status(summed(mavlink2(110, 9, {51, 68}), kExtra)));
  auto damaged = status_of(true);
  damaged[12] ^= 1;
  EXPECT_FALSE(parse_radio_status(damaged));
  EXPECT_FALSE(parse_radio_status(Bytes{0xfd, 9, 0}));
  EXPECT_FALSE(parse_radio_status({}));
}

/// SiK takes any message of that id and length for one, and no reader of MAVLink does.
TEST(RadioHeartbeat, IsForTheRadioAlone) {
  RadioHeartbeat heartbeat;
  for (int i = 0; i < 300; ++i) {
    const auto beat = heartbeat.next(false);
    ASSERT_EQ(beat.size(), 12u);
    EXPECT_EQ(beat[0], 0xfd);
    EXPECT_LE(beat[1], 9);
    EXPECT_EQ(beat[7] + beat[8] + beat[9], 0);
    MavlinkFramer framer;
    int frames = 0;
    framer.feed(beat, 0, [&](ByteView) { ++frames; });
    framer.poll(MavlinkFramer::kSilenceNs, [&](ByteView) { ++frames; });
    ASSERT_EQ(frames, 0);
  }
}

TEST(RadioHeartbeat, OrForAllThatLook) {
  RadioHeartbeat heartbeat;
  const auto beat = heartbeat.next(true);
  ASSERT_EQ(beat.size(), RadioHeartbeat::kMost);
  const Bytes copy(beat.begin(), beat.end());
  EXPECT_EQ(copy, summed(copy, 50));
}

TEST(RadioStatus, SaysHowMuchRoomIsLeft) {
  // Made by pymavlink 2.4.50: MAVLink_radio_status_message(255, 0, 34, 0, 0, 0, 0), MAVLink 1, system 51, component 68.
  EXPECT_EQ(test::hex(radio_status(34, 7)), "fe090733446d00000000ff0022000098e2");
  EXPECT_EQ(radio_status(250, 0)[12], 100) << "no more than all of it";
}

}  // namespace
}  // namespace pqcmav
