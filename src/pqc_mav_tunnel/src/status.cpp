// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/status.hpp"

#include <algorithm>

namespace pqcmav {

std::string_view to_string(LinkState state) noexcept {
  switch (state) {
    case LinkState::down: return "DOWN";
    case LinkState::handshaking: return "HANDSHAKING";
    case LinkState::up: return "UP";
    case LinkState::degraded: return "DEGRADED";
    case LinkState::rekeying: return "REKEYING";
  }
  return "?";
}

std::uint64_t count_of(const NamedCounters& counters, std::string_view name) noexcept {
  const auto found = std::ranges::find(counters, name, &NamedCounters::value_type::first);
  return found == counters.end() ? 0 : found->second;
}

std::string EndpointStatus::text() const {
  auto out = state;
  for (const auto& [counter, value] : counters) out += ", " + std::string(counter) + " " + std::to_string(value);
  return out;
}

}  // namespace pqcmav
