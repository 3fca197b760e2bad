// SPDX-License-Identifier: Apache-2.0
// Who is on the other side of the plaintext port, where the configuration does not say: the first who sends there. One
// packet from another program does not draw the vehicle's commands to it; a router that was restarted and now has
// another port gets them once its old port has been silent for a while.
#pragma once

#include <cstdint>

#include "constants.hpp"
#include "net/net.hpp"

namespace pqcmav {

class PlainLearner {
 public:
  /// Takes note of a datagram from `source`, and changes `peer` (empty = nobody yet) when it is to be the peer.
  void hear(SockAddr& peer, const SockAddr& source, std::uint64_t now) noexcept {
    if (!(source == peer)) {
      if (!peer.empty() && now - heard_ns_ < kSilenceNs) return;
      peer = source;
    }
    heard_ns_ = now;
  }

 private:
  static constexpr std::uint64_t kSilenceNs = static_cast<std::uint64_t>(nanoseconds(kPlainPeerSilence).count());
  std::uint64_t heard_ns_ = 0;  // the peer's last datagram
};

}  // namespace pqcmav
