// A copy of the autopilot's plaintext for programs on this machine that only want to read it (battery and sensor monitors).
//
// The packets of a batch are copied before they are sealed in place, and leave after the batch is on its way to the peer: what becomes of the copies is of no
// concern to the tunnel. Nothing is read back: a program that answers answers nobody.
#pragma once

#include <memory>
#include <string>

#include "net/counters.hpp"
#include "net/net.hpp"
#include "net/udp_batch.hpp"

namespace pqcmav {

/// One thread; no allocation after construction.
class PlainTap {
 public:
  /// Copies of up to `slots` datagrams of up to `capacity` bytes go to `endpoint` ("host:port"). Throws TunnelError(address) for anything but a loopback address
  /// with a port: the copies are in clear.
  PlainTap(const std::string& endpoint, std::size_t slots, std::size_t capacity);
  /// Would a socket bound there receive the copies?
  [[nodiscard]] bool reaches(const SockAddr& local) const;
  /// Keeps a copy for the next flush. What came from the reader itself is not for it: a router there would send it round in circles.
  void take(ByteView datagram, const SockAddr& source, LinkCounters& counters) noexcept;
  /// Sends what was taken. What the kernel does not take at once is counted and forgotten.
  void flush(LinkCounters& counters) noexcept;

 private:
  SockAddr to_;
  Fd socket_;
  std::size_t slots_, capacity_, used_ = 0;
  std::unique_ptr<std::uint8_t[]> memory_;
  UdpSender out_{false};
};

}  // namespace pqcmav
