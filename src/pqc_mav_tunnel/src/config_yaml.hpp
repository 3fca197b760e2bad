// SPDX-License-Identifier: Apache-2.0
// YAML to flat configuration, for hosts without ROS parameters. Not in the engine's library: it needs yaml-cpp.
#pragma once

#include <string>
#include <vector>

#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav {

/// Where a configuration comes from: what a command line names, so that it can be read again.
struct ConfigSources {
  /// YAML files, of which later ones win: plain ones, with nested maps joined by dots, and ROS parameter files.
  std::vector<std::string> files;
  /// `KEY=VALUE` with a YAML value, which win against all files; later ones win.
  std::vector<std::string> settings;
  /// The full name of a ROS node, "/gcs/pqc_proxy": its blocks count, in the order in which rcl takes them. Empty: the
  /// blocks for pqc_proxy in any namespace, which then must not contradict each other.
  std::string node;

  /// The flat configuration as the files are now. `~` in paths is the user's home. Throws TunnelError(config_syntax)
  /// with file and line.
  FlatConfig read() const;
};

/// One file's text as a flat configuration, paths as they are; `name` stands for the file in errors.
FlatConfig parse_yaml_config(const std::string& text, const std::string& name);

}  // namespace pqcmav
