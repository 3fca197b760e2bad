// SPDX-License-Identifier: Apache-2.0
// QoS profiles by name, the same as those of pqc_mav_common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <rclcpp/qos.hpp>

namespace pqc_mav_proxy_cpp::qos {

/// A late subscriber gets the last `depth` messages (one per drone for `~/status`).
inline rclcpp::QoS latched(std::size_t depth) {
  return rclcpp::QoS(rclcpp::KeepLast(std::max<std::size_t>(1, depth))).reliable().transient_local();
}
/// For rare messages that nobody should miss: `~/handshake`.
inline rclcpp::QoS event() { return latched(10); }
/// Two rounds deep: `~/stats` and `~/link`, one message per drone and second.
inline rclcpp::QoS periodic(std::size_t drones) {
  return rclcpp::QoS(rclcpp::KeepLast(std::max<std::size_t>(10, 2 * drones))).reliable();
}
/// For streams whose next message comes soon anyway: `~/server_stats`.
inline rclcpp::QoS sensor() { return rclcpp::QoS(rclcpp::KeepLast(5)).best_effort(); }

}  // namespace pqc_mav_proxy_cpp::qos
