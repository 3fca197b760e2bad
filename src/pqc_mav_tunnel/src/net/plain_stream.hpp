// SPDX-License-Identifier: Apache-2.0
// One stream of bytes (a serial port, a TCP connection) as a channel of datagrams.
#pragma once

#include <cstdint>

#include "fd.hpp"
#include "net/plain_hub.hpp"
#include "route/mavlink_framer.hpp"
#include "route/out_queue.hpp"

namespace pqcmav {

class PlainStream {
 public:
  /// With `strangers` whoever speaks HTTP is refused: a page in a browser may connect to any port of its machine, and
  /// what it sends would be searched for commands.
  PlainStream(PlainHub& hub, EndpointCounters& counters, unsigned channel, std::size_t queue_bytes,
              bool strangers = false)
      : hub_(hub), counters_(counters), channel_(channel), begins_(strangers), out_(queue_bytes) {}

  void open(Fd fd, std::uint64_t tag);
  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(fd_); }
  [[nodiscard]] unsigned channel() const noexcept { return channel_; }
  /// Reads and passes on what is there. False when the stream has come to its end.
  [[nodiscard]] bool read(std::uint64_t now);
  void send(ByteView datagram);
  /// Writes what the other side takes. False when the stream is broken.
  [[nodiscard]] bool flush();
  /// Bytes of send() that have not left this program.
  [[nodiscard]] std::size_t waiting() const noexcept { return out_.waiting(); }
  [[nodiscard]] const Fd& fd() const noexcept { return fd_; }
  /// What waits is lost, and counted.
  void forget() noexcept { counters_.dropped.add(out_.clear()); }
  [[nodiscard]] std::uint64_t due() const noexcept { return is_open() ? framer_.due() : MavlinkFramer::kNever; }
  void on_time(std::uint64_t now);
  /// What waits is lost, and counted. The descriptor is the caller's to close.
  Fd close() noexcept;

 private:
  void count_skipped() noexcept;

  PlainHub& hub_;
  EndpointCounters& counters_;
  const unsigned channel_;
  bool begins_;  // and its first bytes are looked at
  Fd fd_;
  std::uint64_t tag_ = 0;
  MavlinkFramer framer_;
  OutQueue out_;
  bool watched_for_room_ = false;
  std::uint64_t skipped_ = 0;  // of the framer's, as counted
};

}  // namespace pqcmav
