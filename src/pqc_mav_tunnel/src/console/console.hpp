// SPDX-License-Identifier: Apache-2.0
// The control socket of a running engine.
#pragma once

#include <utility>

#include "console/commands.hpp"
#include "console/console_server.hpp"
#include "console/event_journal.hpp"
#include "console/local_socket.hpp"
#include "console/steered_engine.hpp"

namespace pqcmav {

class Console {
 public:
  /// Serves from now on; engine and log outlive it.
  Console(Engine& engine, EventJournal& log, LocalSocket socket)
      : engine_(engine), commands_(engine_, log), server_(std::move(socket), commands_, log) {}
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return server_.path(); }

 private:
  SteeredEngine engine_;
  Commands commands_;
  ConsoleServer server_;
};

}  // namespace pqcmav
