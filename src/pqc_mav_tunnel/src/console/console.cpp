// SPDX-License-Identifier: Apache-2.0
#include "console/console.hpp"

#include <algorithm>

namespace pqcmav {

Console::Console(Engine& engine, EventJournal& log, LocalSocket socket)
    : engine_(engine), commands_(*this, log), server_(std::move(socket), commands_, log) {}

std::vector<Traffic> Console::traffic() const {
  static constexpr std::array<std::string_view, 4> names = {"enc_tx_packets", "enc_tx_bytes", "enc_rx_packets",
                                                            "enc_rx_bytes"};
  std::vector<Traffic> out;
  for (const auto& stats : engine_.stats()) {
    Traffic traffic{stats.drone_id, {}};
    for (const auto& [name, value] : stats.counters)
      if (const auto it = std::find(names.begin(), names.end(), name); it != names.end())
        traffic.counted[static_cast<std::size_t>(it - names.begin())] = value;
    out.push_back(std::move(traffic));
  }
  return out;
}

void Console::note(const std::string& drone_id, std::string text) {
  engine_.events().push(Event{0, drone_id, LogEvent{LogLevel::info, std::move(text)}});
}

}  // namespace pqcmav
