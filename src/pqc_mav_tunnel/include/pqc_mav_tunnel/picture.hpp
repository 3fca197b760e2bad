// SPDX-License-Identifier: Apache-2.0
// An engine's pictures as JSON, field by field, under the names that the ROS messages have for them. One table
// (src/picture) says what there is; picture_schema() shows it. Users need nlohmann_json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/status.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

using Json = nlohmann::ordered_json;

// What is not known yet is NaN, which JSON writes as null. A message shows all of these that it has a field for.
Json picture_of(const LinkStatus& status);  // TunnelStatus
Json picture_of(const LinkStats& stats);    // TunnelStats
/// LinkQuality as this end hears the other, and as the other reported once it has.
Json picture_of(const LinkQualityView& link);
/// ServerStats, for all drones of an engine. A drone has nothing of what a gcs alone counts.
Json picture_of(const ServerView& server);
/// HandshakeReport, of an event that is one.
Json picture_of(const Event& handshake);
Json picture_of(const Suite& suite);  // SuiteInfo

/// The table: for each message its name and, for each field, `name`, `type`, `unit`, `min` and `max` (null: what the
/// type can hold), `text`, `message` (whether the message has it too) and, of a counter, `warning`, what its growth means.
Json picture_schema();

}  // namespace pqcmav
