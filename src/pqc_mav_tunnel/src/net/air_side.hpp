// SPDX-License-Identifier: Apache-2.0
// The thread of all serial radios of an engine. To the data threads a radio is an address on loopback: each drone on it
// has a UDP socket here, whose datagrams go into the air and come out of it. So sessions, handshakes, shaping and the
// share of several data threads are those of UDP.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "net/radio_port.hpp"

namespace pqcmav {

class AirSide {
 public:
  using WirePtr = std::shared_ptr<const Wire>;

  /// `data`: where the data threads' socket is.
  AirSide(bool drone_end, const SockAddr& data, EventQueue& events);
  ~AirSide();
  AirSide(const AirSide&) = delete;
  AirSide& operator=(const AirSide&) = delete;

  // Any thread.
  /// A drone more on a radio, which may have others. Once it runs, a radio that is not open yet has to open now.
  /// `data`: where that drone's own socket is; none: `data` of them all. Throws TunnelError, and nothing has changed.
  WirePtr add(const RadioSettings& settings, const std::string& drone, const SockAddr& data = {});
  /// Would add() open it?  Throws TunnelError if not.
  void check(const RadioSettings& settings) const;
  /// The port is closed with its last drone. Nothing does nothing.
  void remove(const WirePtr& wire);
  /// Whose address that is; nothing where it is no radio's.
  [[nodiscard]] WirePtr at(const SockAddr& address) const;
  /// The one that was added first, if there is any.
  [[nodiscard]] WirePtr first() const;

  /// From now on radios carry. There is a thread once there is a radio.
  void start();
  /// Ends the thread, once what waits has left or a moment has passed, and closes the ports.
  void stop();

 private:
  void run();
  void begin();
  [[nodiscard]] std::shared_ptr<RadioPort> find(const RadioSettings& settings) const;

  const bool drone_end_;
  const SockAddr data_;
  EventQueue& events_;
  Fd wake_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;  // the radios and who is on them; the thread has it while it works, not while it waits
  std::vector<std::shared_ptr<RadioPort>> radios_;
  std::uint64_t revision_ = 0;
  bool running_ = false;
  std::thread thread_;
  mutable std::mutex wires_mutex_;
  std::vector<WirePtr> wires_;
};

}  // namespace pqcmav
