// SPDX-License-Identifier: Apache-2.0
// The ground software of all drones of a fleet in one socket: it counts what the gcs delivers, and answers each message.
#pragma once

#include <cstdint>
#include <vector>

#include "net/net.hpp"
#include "net/udp_batch.hpp"

namespace pqcmav::fleet {

class GroundSink {
 public:
  struct Counts {
    std::uint64_t received = 0;
    std::uint64_t again = 0;     // with a number that came before, or after a higher one
    std::uint64_t spoiled = 0;   // not a message of this fleet
    std::uint64_t mixed_up = 0;  // from another port of the gcs than the drone's first
    std::uint64_t answered = 0, send_errors = 0, kernel_dropped = 0;
  };
  /// `at` is where the gcs delivers to. Throws TunnelError.
  GroundSink(const SockAddr& at, std::size_t drones);
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  /// Takes what has come.
  void read();
  [[nodiscard]] const Counts& counts() noexcept;

 private:
  void take(ByteView datagram, const SockAddr& source);

  struct Stream {
    std::uint32_t next = 0;
    std::uint16_t port = 0;
  };
  Fd socket_;
  UdpReceiver in_;
  std::vector<Stream> streams_;
  Counts counts_;
  KernelDrops drops_;
  std::uint8_t sequence_ = 0;
};

}  // namespace pqcmav::fleet
