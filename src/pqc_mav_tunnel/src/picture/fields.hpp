// SPDX-License-Identifier: Apache-2.0
// The rows of everything but the counters.
#pragma once

#include <optional>
#include <vector>

#include "picture/field.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

/// One direction of a link.
struct LinkSide {
  const LinkQualityView* link = nullptr;
  bool of_peer = false;
};

std::span<const Row<LinkStatus>> status_rows() noexcept;
std::span<const Row<PathStatus>> path_rows() noexcept;
// The counters are between these.
std::span<const Row<LinkStats>> stats_head_rows() noexcept;
std::span<const Row<LinkStats>> stats_rows() noexcept;
std::span<const Row<LinkRates>> rate_rows() noexcept;
std::span<const Row<LinkReport>> report_rows() noexcept;
std::span<const Row<LinkQualityView>> link_rows() noexcept;   // alike for both sides
std::span<const Row<LinkQualityView>> radio_rows() noexcept;  // of it; the control socket has them of radios alone
std::span<const Row<LinkSide>> side_rows() noexcept;
std::span<const Row<ServerView>> server_rows() noexcept;  // besides the counters
std::span<const Row<HandshakeEvent>> handshake_rows() noexcept;
std::span<const Row<HandshakeTimes>> times_rows() noexcept;
std::span<const Row<Event>> event_rows() noexcept;
std::span<const Row<Suite>> suite_rows() noexcept;

}  // namespace pqcmav
