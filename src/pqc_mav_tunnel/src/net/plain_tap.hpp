// SPDX-License-Identifier: Apache-2.0
// A copy of the autopilot's plaintext for programs on this machine that only want to read it (battery and sensor
// monitors).
//
// The packets of a batch are copied before they are sealed in place, and leave after the batch is on its way to the
// peer: what becomes of the copies is of no concern to the tunnel. Nothing is read back, unless the owner allows
// requests: then the reader, from the tap's own address, may set how often the autopilot sends a message. Such a request
// goes to the autopilot alone, never into the tunnel, and whatever else comes is counted and forgotten.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/counters.hpp"
#include "net/interval_request.hpp"
#include "net/net.hpp"
#include "net/udp_batch.hpp"

namespace pqcmav {

/// Throws TunnelError(config_invalid) unless the plaintext addresses of one drone fit together: bind and peer of one
/// family, the tap a loopback address with a port (the copies are in clear) that is neither of them. Empty ones are not
/// known (yet).
void check_plain_addresses(const std::string& prefix, const SockAddr& bind, const SockAddr& peer, const SockAddr& tap);

/// Throws TunnelError(config_invalid) when the plaintext port is open to other machines without the owner's word.
void check_plain_bind(const std::string& prefix, const SockAddr& bind, bool allow_remote);

/// One thread; no allocation after construction.
class PlainTap {
 public:
  /// Copies of up to `slots` datagrams of up to `capacity` bytes go to `to`, which was checked (below).
  PlainTap(const SockAddr& to, std::size_t slots, std::size_t capacity);
  /// Keeps a copy for the next flush. What came from the reader itself is not for it: a router there would send it
  /// round in circles.
  void take(ByteView datagram, const SockAddr& source, LinkCounters& counters) noexcept;
  /// Sends what was taken. What the kernel does not take at once is counted and forgotten.
  void flush(LinkCounters& counters) noexcept;
  /// Where requests arrive.
  [[nodiscard]] const Fd& socket() const noexcept { return socket_; }
  /// The next request that may be passed on, which lasts until the next call; none when nothing waits any more, or
  /// after a few that may not.
  std::optional<MutableBytes> request(std::uint64_t now, LinkCounters& counters) noexcept;

 private:
  SockAddr to_;
  ByteArray<64> asked_{};
  RequestRate rate_;
  Fd socket_;
  std::size_t slots_, capacity_, used_ = 0;
  std::unique_ptr<std::uint8_t[]> memory_;
  UdpSender out_{false};
};

}  // namespace pqcmav
