// SPDX-License-Identifier: Apache-2.0
#include "console/console.hpp"

namespace pqcmav {

Console::Console(Engine& engine, EventJournal& log, LocalSocket socket)
    : engine_(engine), commands_(*this, log), server_(std::move(socket), commands_, log) {}

void Console::note(const std::string& drone_id, std::string text) {
  engine_.events().push(Event{0, drone_id, LogEvent{LogLevel::info, std::move(text)}});
}

}  // namespace pqcmav
