// SPDX-License-Identifier: Apache-2.0
// The fixed vectors of the MAVLink headers that shaping reads.
#include <gtest/gtest.h>

#include <sstream>

#include "shape/mavlink_walk.hpp"
#include "shape/message_class.hpp"
#include "vector_file.hpp"

namespace pqcmav::test {
namespace {

TEST(MavlinkVectors, EveryHeaderAndClass) {
  const auto file = read_vectors(std::filesystem::path(PQCMAV_VECTORS) / "mavlink.txt");
  const MessageClasses classes;
  int count = 0;
  for (const auto& [name, given] : file) {
    if (!given.has("datagram")) continue;
    ++count;
    const auto datagram = given.bytes("datagram");
    std::ostringstream have;
    std::size_t messages = 0;
    const bool whole = walk_mavlink(datagram, [&](const MavlinkHeader& header) {
      have << (messages++ == 0 ? "" : " ") << int{header.version} << '/' << int{header.sequence} << '/'
           << int{header.system} << '/' << int{header.component} << '/' << header.id << '/' << header.size;
    });
    EXPECT_EQ(whole, given.number("count") > 0) << name;
    if (whole) {
      EXPECT_EQ(messages, given.number("count")) << name;
      EXPECT_EQ(have.str(), given.text("have")) << name;
    }
    EXPECT_EQ(static_cast<std::uint64_t>(classify(datagram, classes).shape_class), given.number("index")) << name;
  }
  EXPECT_EQ(count, 18);
}

}  // namespace
}  // namespace pqcmav::test
