// SPDX-License-Identifier: Apache-2.0
// Which of several data threads has which drone, and how the kernel knows it: the gcs chooses the ids of sessions and
// the indices of compact headers, and chooses them so that they name the thread. A filter on the socket reads them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bytes.hpp"
#include "constants.hpp"
#include "fd.hpp"

namespace pqcmav {

/// One of so many shares of the drones.
struct DataShare {
  std::size_t number = 0, threads = 1;

  /// Thread 0 has the handshakes besides, so the first drone is the last thread's.
  static DataShare of(std::size_t link, std::size_t threads) noexcept {
    return {threads - 1 - link % threads, threads};
  }
  /// Do packets of a session with this id come to this thread?
  [[nodiscard]] bool takes(const SessionId& id) const noexcept {
    return load_be<std::uint32_t>(id.data()) % threads == number;
  }
  [[nodiscard]] bool takes(std::uint16_t index) const noexcept { return index % threads == number; }
};

/// Of the sockets that are bound to the address of this one (UdpOptions::shared), the first of `threads` and bound
/// first, each gets the packets of its share in the order in which they were bound; the first gets all else. Throws
/// TunnelError(io).
void steer_packets(const Fd& first, std::size_t threads);

}  // namespace pqcmav
