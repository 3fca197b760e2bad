// SPDX-License-Identifier: Apache-2.0
// The walk through a datagram's MAVLink headers: it covers all of the datagram or says so, and never looks beyond. The
// class follows from the same walk.
#include "fuzz_support.hpp"
#include "shape/mavlink_walk.hpp"
#include "shape/message_class.hpp"

using namespace pqcmav;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MessageClasses classes;
  const Bytes datagram(data, data + size);  // so that the sanitizer sees its end
  std::size_t covered = 0, messages = 0;
  auto best = ShapeClass::rest;
  const bool whole = walk_mavlink(datagram, [&](const MavlinkHeader& header) {
    require(header.size >= 8 && header.size <= 255 + 25 && header.id <= kMavlinkIdMax);
    covered += header.size;
    ++messages;
    best = std::min(best, classes.of(header.id).shape_class);
  });
  require(covered <= size);
  require(whole == (covered == size && messages > 0));
  const auto found = classify(datagram, classes);
  require(found.shape_class == (whole ? best : ShapeClass::rest));
  require(!found.stream || messages == 1);
  return 0;
}
