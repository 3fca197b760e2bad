// SPDX-License-Identifier: Apache-2.0
// Frames of a serial line out of any stream, in any pieces: the pieces make no difference, what comes out is what its
// writer would have written, and a frame behind two delimiters comes out whatever was before.
#include "fuzz_support.hpp"
#include "line/line_frame.hpp"

using namespace pqcmav;

namespace {

struct Read {
  Bytes all;
  std::size_t frames = 0;
  std::uint64_t errors = 0;
};

Read read_in_pieces(ByteView stream, std::size_t piece) {
  LineFrameReader reader;
  Read out;
  const auto visit = [&](LineAddress line, ByteView datagram) {
    require(datagram.size() <= kLineDatagramMost);
    ByteArray<kLineFrameMost + 1> frame;
    const auto size = write_line_frame(line, datagram, frame);
    append(out.all, ByteView(frame).first(size));
    ++out.frames;
    LineFrameReader again;
    bool came = false;
    again.feed(ByteView(frame).first(size), [&](LineAddress other, ByteView same) {
      came = other == line && std::equal(same.begin(), same.end(), datagram.begin(), datagram.end());
    });
    require(came);
  };
  feed_in_pieces(stream, piece, [&](ByteView copy) { reader.feed(copy, visit); });
  const auto before = out.frames;
  ByteArray<kLineFrameMost + 1> known;
  reader.feed(Bytes{0}, visit);
  const auto size = write_line_frame({true, 5}, as_bytes("known"), known);
  reader.feed(ByteView(known).first(size), visit);
  require(out.frames > before);
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
  // Whatever the bytes are, they come through as a datagram.
  const auto datagram = stream.first(std::min(stream.size(), kLineDatagramMost));
  ByteArray<kLineFrameMost + 1> frame;
  LineFrameReader reader;
  bool came = false;
  reader.feed(ByteView(frame).first(write_line_frame({false, 1}, datagram, frame)), [&](LineAddress, ByteView same) {
    came = std::equal(same.begin(), same.end(), datagram.begin(), datagram.end());
  });
  require(came && reader.errors() == 0);
  return 0;
}
