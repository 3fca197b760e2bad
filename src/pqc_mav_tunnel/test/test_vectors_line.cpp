// SPDX-License-Identifier: Apache-2.0
// The fixed vectors of datagrams on a serial line.
#include <gtest/gtest.h>

#include "line/mavlink_carrier.hpp"
#include "vector_file.hpp"

namespace pqcmav::test {
namespace {

TEST(LineVectors, EveryFrameAndMessage) {
  const auto file = read_vectors(std::filesystem::path(PQCMAV_VECTORS) / "line.txt");
  MavlinkCarrierWriter writer;  // numbers and sequences go on from case to case
  int count = 0;
  for (const auto& [name, given] : file) {
    if (!given.has("datagram")) continue;
    ++count;
    const auto line = LineAddress::of(given.bytes("line").at(0));
    const auto datagram = given.bytes("datagram");
    Bytes frame(kLineFrameMost + 1), messages(kCarrierMost);
    frame.resize(write_line_frame(line, datagram, frame));
    messages.resize(writer.write(line, datagram, messages));
    EXPECT_EQ(frame, given.bytes("frame")) << name;
    EXPECT_EQ(messages, given.bytes("messages")) << name;
    int came = 0;
    const auto visit = [&](LineAddress from, ByteView got) {
      ++came;
      EXPECT_EQ(from, line) << name;
      EXPECT_TRUE(std::ranges::equal(got, datagram)) << name;
    };
    LineFrameReader frames;
    frames.feed(given.bytes("frame"), visit);
    MavlinkCarrierReader carried;
    carried.feed(given.bytes("messages"), 0, visit, [&](ByteView) { ADD_FAILURE() << name; });
    EXPECT_EQ(came, 2) << name;
  }
  EXPECT_EQ(count, 8);
}

/// What a receiver makes of damaged bytes: which of the datagrams come, and how many errors are counted.
TEST(LineVectors, EveryDamagedStream) {
  const auto file = read_vectors(std::filesystem::path(PQCMAV_VECTORS) / "line.txt");
  int count = 0;
  for (const auto& [name, given] : file) {
    if (!given.has("stream")) continue;
    ++count;
    std::string came;
    std::uint64_t errors = 0;
    const auto visit = [&](LineAddress line, ByteView got) {
      came += (came.empty() ? "" : " ") + hex(Bytes{line.byte()}) + "/" + hex(got);
    };
    const auto stream = given.bytes("stream");
    if (given.text("what") == "raw") {
      LineFrameReader frames;
      frames.feed(stream, visit);
      errors = frames.errors();
    } else {
      MavlinkCarrierReader carried;
      carried.feed(stream, 0, visit, [](ByteView) {});
      carried.poll(kPartsWithinNs, visit, [](ByteView) {});
      errors = carried.errors();
    }
    EXPECT_EQ(came, given.text("have")) << name;
    EXPECT_EQ(errors, given.number("count")) << name;
  }
  EXPECT_EQ(count, 12);
}

}  // namespace
}  // namespace pqcmav::test
