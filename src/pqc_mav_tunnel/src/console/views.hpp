// SPDX-License-Identifier: Apache-2.0
// An engine's state and events as JSON, as version 1 of the control socket has them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "console/handshake_tally.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/open_sockets.hpp"
#include "pqc_mav_tunnel/picture.hpp"
#include "pqc_mav_tunnel/status.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

Json view_of(const LinkStatus& status);
Json view_of(const LinkStats& stats);
Json view_of(const LinkQualityView& link);
Json view_of(const NamedCounters& counters);
Json view_of(const HandshakeTally& tally);
Json view_of(const Suite& suite);
Json view_of(const OpenSocket& socket);
Json view_of(const DroneChanges& changes);
Json view_of(const KeyChanges& changes);
Json view_of(const ReloadOutcome& outcome);
/// `time` is the system's, in seconds: the event's own clock means nothing to others.
Json view_of(const Event& event, double time);
/// One line, its end included. Bytes that are not UTF-8, as a peer may send them in a sentence, are replaced.
std::string line_of(const Json& value);

/// The system's time of an event that has this monotonic time.
double system_time_of(std::uint64_t monotonic_ns);

}  // namespace pqcmav
