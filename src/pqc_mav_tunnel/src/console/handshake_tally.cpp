// SPDX-License-Identifier: Apache-2.0
#include "console/handshake_tally.hpp"

#include <algorithm>

namespace pqcmav {

void HandshakeTally::add(const HandshakeEvent& event) {
  auto& kind = kinds_[static_cast<std::size_t>(event.kind)];
  if (!event.ok) {
    ++kind.failed[static_cast<std::size_t>(event.error)];
    return;
  }
  const auto bucket =
      std::lower_bound(kHandshakeBuckets.begin(), kHandshakeBuckets.end(), event.duration_ns,
                       [](std::uint32_t ms, std::uint64_t ns) { return ms * std::uint64_t{1000000} < ns; });
  ++kind.counts[static_cast<std::size_t>(bucket - kHandshakeBuckets.begin())];
  kind.sum_ns += event.duration_ns;
}

}  // namespace pqcmav
