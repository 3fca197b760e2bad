// SPDX-License-Identifier: Apache-2.0
// The door of an engine in another process, through its control socket: the same lines as Door has. A thread of its own
// holds the connection, finds a daemon that was started again and follows its events from where they broke off.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pqcmav {

class SocketDoor {
 public:
  /// Whose door it has to be, as `hello` says; "" = any. `nonce`: the mark of those who were started together.
  struct Expected {
    std::string role, id, nonce;
  };

  /// Looks for the daemon from now on. Whoever listens there is refused unless it runs as this user, as root, or as the
  /// user to whom root gave the folder below /run, and is as expected.
  SocketDoor(std::filesystem::path path, Expected expected);
  ~SocketDoor();
  SocketDoor(const SocketDoor&) = delete;
  SocketDoor& operator=(const SocketDoor&) = delete;

  /// The answer to one request, both without the end of the line. With the code `away` it is this side's: the daemon is
  /// not there, is a foreign one, or gave no answer in time. Any thread; who asks for what takes its time (a rekey,
  /// `pause`, ...) holds up nobody else, and while the daemon is known to be away nobody waits.
  std::string ask(std::string_view request);

  /// Lines of events as a subscription has them, handshakes with their `picture`, since the daemon's start. Lines of this
  /// side are among them: {"event": "door", "there": true, "boot", "state", "problem", "next" (number of the first event that was
  /// still to come), "gap"}, and "there": false with a "reason". Waits up to `timeout`. For one thread.
  std::vector<std::string> events(std::chrono::nanoseconds timeout, std::size_t most = 64);

  /// What `hello` said last, as JSON, "" while the daemon is away: the kernel's `process` (0: of another namespace) and
  /// `uid`, and all that hello has.
  [[nodiscard]] std::string hello() const;
  /// Why it is away, a sentence; "" while it is there.
  [[nodiscard]] std::string away() const;

  /// Ends waits and connections; `ask` then refuses. Idempotent.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pqcmav
