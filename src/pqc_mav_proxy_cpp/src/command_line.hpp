// SPDX-License-Identifier: Apache-2.0
// The process's ROS arguments as node options, with faults told in one line.
#pragma once

#include <rclcpp/node_options.hpp>
#include <string>
#include <vector>

namespace pqc_mav_proxy_cpp {

/// Checks every parameter file that the arguments name. Throws Failure.
void check_parameter_files(const std::vector<std::string>& arguments);

/// Options for a node of this name out of arguments with which ROS is initialised already. Here, unlike in rclcpp, a
/// parameter file may have an empty list. Throws Failure.
rclcpp::NodeOptions options_of(const std::vector<std::string>& arguments, const std::string& node);

}  // namespace pqc_mav_proxy_cpp
