// SPDX-License-Identifier: Apache-2.0
// Frames out of any stream, in any pieces: each byte is part of one frame or skipped, a frame is what it claims to be,
// and the pieces make no difference.
#include "fuzz_support.hpp"
#include "route/mavlink_framer.hpp"
#include "route/mavlink_router.hpp"
#include "route/out_queue.hpp"

using namespace pqcmav;

namespace {

struct Read {
  Bytes frames;
  std::uint64_t skipped = 0;
};

Read read_in_pieces(ByteView stream, std::size_t piece) {
  MavlinkFramer framer;
  MavlinkRouter router;
  OutQueue queue(1000);
  Read out;
  const auto visit = [&](ByteView frame) {
    const auto header = read_mavlink_header(frame);
    require(header && header->size == frame.size());
    router.hear(1 + header->sequence % 4, header->system, header->component);
    const auto to = router.route(1, *header, frame, 0x1f);
    require((to & ~0x1du) == 0);
    (void)queue.push(frame);
    (void)queue.taken(queue.next().size() / 2);
    append(out.frames, frame);
  };
  feed_in_pieces(stream, piece, [&](ByteView copy) { framer.feed(copy, 0, visit); });
  framer.poll(MavlinkFramer::kSilenceNs, visit);
  require(framer.due() == MavlinkFramer::kNever);
  out.skipped = framer.skipped();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView stream(data + 1, size - 1);
  const auto whole = read_in_pieces(stream, size);
  require(whole.frames.size() + whole.skipped == stream.size());
  const auto pieces = read_in_pieces(stream, 1 + data[0]);
  require(pieces.frames == whole.frames && pieces.skipped == whole.skipped);
  return 0;
}
