// SPDX-License-Identifier: Apache-2.0
// An engine's control socket without the socket, for the program that hosts the engine: a line of JSON in, a line of
// JSON out, as docs/control-socket.md has them, and a line for each event.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pqc_mav_tunnel/engine.hpp"

namespace pqcmav {

class Door {
 public:
  /// The engine outlives it.
  explicit Door(Engine& engine);
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// The answer to one request, both without the end of the line; whatever is asked, there is one. A rekey is waited
  /// for. What this asks is no stranger's: nothing is logged of it. Any thread.
  std::string ask(std::string_view request);

  /// What the engine's events() would give, a line for each: as a subscription has it, a handshake with its `picture`
  /// (the message's fields), and with `say` (`level`, `text`) what is worth a line in the host's log. The first one says
  /// where the engine that has started can be reached. Waits up to `timeout`. For one thread, after Engine::start().
  std::vector<std::string> events(std::chrono::nanoseconds timeout, std::size_t most = 64);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pqcmav
