// SPDX-License-Identifier: Apache-2.0
// YAML to flat configuration, for hosts without ROS parameters. Not in the engine's library: it needs yaml-cpp.
#pragma once

#include <string>

#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav {

/// A YAML file as a flat configuration: nested maps joined by dots. A ROS parameter file gives what it has for the node
/// pqc_proxy. `~` in paths is the user's home. Throws TunnelError(config_syntax) with file and line.
FlatConfig load_yaml_config(const std::string& path);
/// The same from a string, paths as they are; `name` stands for the file in errors.
FlatConfig parse_yaml_config(const std::string& text, const std::string& name);

}  // namespace pqcmav
