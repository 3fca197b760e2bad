// SPDX-License-Identifier: Apache-2.0
// The engine's pictures and events as ROS messages: pure functions. What is not known yet is NaN in a float field.
#pragma once

#include <pqc_mav_interfaces/msg/handshake_report.hpp>
#include <pqc_mav_interfaces/msg/link_quality.hpp>
#include <pqc_mav_interfaces/msg/server_stats.hpp>
#include <pqc_mav_interfaces/msg/suite_info.hpp>
#include <pqc_mav_interfaces/msg/tunnel_stats.hpp>
#include <pqc_mav_interfaces/msg/tunnel_status.hpp>
#include <std_msgs/msg/header.hpp>
#include <string>
#include <vector>

#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/status.hpp"
#include "pqc_mav_tunnel/suites.hpp"
#include "rates.hpp"

namespace pqc_mav_proxy_cpp {

namespace msg = pqc_mav_interfaces::msg;
using std_msgs::msg::Header;

msg::TunnelStatus status_message(const pqcmav::LinkStatus& status, const std::string& role, const Header& header);
/// The last status of a drone that is not served any more.
msg::TunnelStatus removed_message(const std::string& drone_id, const std::string& role, const Header& header);
msg::TunnelStats stats_message(const pqcmav::LinkStats& stats, const Rates& rates, const Header& header);
/// What became of every datagram, of each drone what verified, and where what was refused came from.
msg::ServerStats server_message(const pqcmav::NamedCounters& totals, const std::vector<pqcmav::LinkStats>& stats,
                                const std::optional<pqcmav::RefusedShare>& refused, const Header& header);
/// The local view, and the peer's once it has reported.
std::vector<msg::LinkQuality> link_messages(const pqcmav::LinkQualityView& link, const Header& header);
msg::HandshakeReport handshake_message(const std::string& drone_id, const pqcmav::HandshakeEvent& event,
                                       const Header& header);
msg::SuiteInfo suite_message(const pqcmav::Suite& suite);

}  // namespace pqc_mav_proxy_cpp
