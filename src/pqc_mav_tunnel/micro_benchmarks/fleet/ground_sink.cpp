// SPDX-License-Identifier: Apache-2.0
#include "ground_sink.hpp"

#include <array>

#include "constants.hpp"
#include "mavlink_messages.hpp"

namespace pqcmav::fleet {
namespace {

constexpr std::size_t kGroundSlots = 64, kGroundBufferKib = 8 * 1024;

}  // namespace

GroundSink::GroundSink(const SockAddr& at, std::size_t drones)
    : socket_(open_udp(at, {kGroundBufferKib, -1, false}, "the ground software of the fleet (UDP)")),
      in_(kGroundSlots, kDefaultMaxPayload, 0, 0, true),
      streams_(drones) {}

void GroundSink::read() {
  for (auto got = in_.capacity(); got == in_.capacity();) {
    got = in_.receive(socket_.get());
    for (std::size_t i = 0; i < got; ++i) take(in_.slot(i).bytes, in_.source(i));
  }
}

void GroundSink::take(ByteView datagram, const SockAddr& source) {
  const auto name = read_message(datagram);
  if (!name || name->drone >= streams_.size()) {
    ++counts_.spoiled;
    return;
  }
  auto& stream = streams_[name->drone];
  if (stream.port == 0) stream.port = source.port();
  if (stream.port != source.port()) ++counts_.mixed_up;
  ++(name->number < stream.next ? counts_.again : counts_.received);
  stream.next = std::max(stream.next, name->number + 1);
  std::array<std::uint8_t, kHeartbeatSize> answer;
  ++(send_one(socket_.get(), write_answer(answer, sequence_++, name->drone), source) ? counts_.answered
                                                                                     : counts_.send_errors);
}

const GroundSink::Counts& GroundSink::counts() noexcept {
  counts_.kernel_dropped += drops_.more(socket_.get());
  return counts_;
}

}  // namespace pqcmav::fleet
