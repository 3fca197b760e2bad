// SPDX-License-Identifier: Apache-2.0
// The thread of all serial radios of an engine. To the data threads a radio is an address on loopback: each drone on it
// has a UDP socket here, whose datagrams go into the air and come out of it. So sessions, handshakes, shaping and the
// share of several data threads are those of UDP.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "net/radio_port.hpp"

namespace pqcmav {

class AirSide {
 public:
  /// `data`: where the data threads' socket is.
  AirSide(bool drone_end, const SockAddr& data, EventQueue& events);
  ~AirSide();
  AirSide(const AirSide&) = delete;
  AirSide& operator=(const AirSide&) = delete;

  /// Before start(). A drone more on a radio, which may have others. Throws TunnelError.
  std::shared_ptr<const Wire> add(const RadioSettings& settings, const std::string& drone);
  void start();
  /// Ends the thread, once what waits has left or a moment has passed, and closes the ports.
  void stop();

 private:
  void run();

  const bool drone_end_;
  const SockAddr data_;
  EventQueue& events_;
  std::vector<std::shared_ptr<RadioPort>> radios_;
  Fd wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace pqcmav
