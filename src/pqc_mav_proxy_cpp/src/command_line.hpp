// SPDX-License-Identifier: Apache-2.0
// The process's ROS arguments as node options, with faults told in one line.
#pragma once

#include <rclcpp/node_options.hpp>
#include <rclcpp/parameter.hpp>
#include <string>
#include <vector>

namespace pqc_mav_proxy_cpp {

/// Checks every parameter file that the arguments name. Throws Failure.
void check_parameter_files(const std::vector<std::string>& arguments);

/// The command line of this process.
std::vector<std::string> own_arguments();

/// Absolute paths of the parameter files that a ROS command line names.
std::vector<std::string> named_files(const std::vector<std::string>& arguments);

/// What the files and the `-p` of a ROS command line give a node as the files are now. Throws Failure for a file that is
/// not good.
std::vector<rclcpp::Parameter> given_by(const std::vector<std::string>& arguments, const std::string& full_name);

/// Options for a node of this name out of arguments with which ROS is initialised already. Here, unlike in rclcpp, a
/// parameter file may have an empty list. Throws Failure.
rclcpp::NodeOptions options_of(const std::vector<std::string>& arguments, const std::string& node);

}  // namespace pqc_mav_proxy_cpp
