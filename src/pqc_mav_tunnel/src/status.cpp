// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/status.hpp"

#include <algorithm>

#include "text.hpp"

namespace pqcmav {

std::string_view to_string(LinkState state) noexcept {
  return name_in<LinkState::rekeying>({"DOWN", "HANDSHAKING", "UP", "DEGRADED", "REKEYING"}, state, "?");
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
