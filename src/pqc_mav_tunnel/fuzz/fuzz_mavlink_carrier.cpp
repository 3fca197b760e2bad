// SPDX-License-Identifier: Apache-2.0
// Datagrams inside MAVLink messages out of any stream, in any pieces: the pieces make no difference, nothing is longer
// than a datagram can be, and any bytes come through as a datagram.
#include "fuzz_support.hpp"
#include "line/mavlink_carrier.hpp"

using namespace pqcmav;

namespace {

struct Read {
  Bytes all;
  std::uint64_t errors = 0;
};

Read read_in_pieces(ByteView stream, std::size_t piece) {
  MavlinkCarrierReader reader;
  Read out;
  const auto visit = [&](LineAddress line, ByteView datagram) {
    require(datagram.size() <= kLineDatagramMost);
    out.all.push_back(line.byte());
    append(out.all, datagram);
  };
  const auto other = [&](ByteView message) { append(out.all, message); };
  feed_in_pieces(stream, piece, [&](ByteView copy) { reader.feed(copy, 0, visit, other); });
  reader.poll(kPartsWithinNs, visit, other);
  require(reader.due() == MavlinkFramer::kNever);
  out.errors = reader.errors();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView stream(data + 1, size - 1);
  const auto whole = read_in_pieces(stream, size);
  const auto pieces = read_in_pieces(stream, 1 + data[0]);
  require(pieces.all == whole.all && pieces.errors == whole.errors);
  const auto datagram = stream.first(std::min(stream.size(), kLineDatagramMost));
  MavlinkCarrierWriter writer;
  ByteArray<kCarrierMost> messages;
  MavlinkCarrierReader reader;
  bool came = false;
  reader.feed(
      ByteView(messages).first(writer.write({true, 9}, datagram, messages)), 0,
      [&](LineAddress line, ByteView same) {
        came = line == LineAddress{true, 9} && std::equal(same.begin(), same.end(), datagram.begin(), datagram.end());
      },
      [](ByteView) { require(false); });
  require(came && reader.errors() == 0);
  return 0;
}
