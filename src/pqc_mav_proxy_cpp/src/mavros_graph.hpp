// SPDX-License-Identifier: Apache-2.0
// Whether mavros nodes of one ROS domain reach each other around the tunnel.
//
// A mavros consists of a router, which has the connections, and a node for one vehicle. Both talk over the topics
// `/uasN/mavlink_source` and `/uasN/mavlink_sink`, N being the vehicle's system id: in one domain the ground's mavros
// commands through the drone's router, and no packet sees the tunnel.
#pragma once

#include <map>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic.hpp"

namespace pqc_mav_proxy_cpp {

using Strings = std::vector<std::string>;
/// Topics, each with the full names of its writers.
using Writers = std::vector<std::pair<std::string, Strings>>;

/// Those of mavros' topics in the ROS graph, as a node sees it.
Writers mavros_writers(const rclcpp_lifecycle::LifecycleNode& node);

/// Judges the links of a domain; remembers since when two nodes of one name have been seen.
class MavrosGraph {
 public:
  Diagnostic diagnostic(double now_s, const Writers& writers);

 private:
  /// The topics of one vehicle in one place, with the full names of the nodes that write to them.
  struct Link {
    std::string system;
    bool is_private = false;  // below a namespace, where no other mavros looks for it
    Strings routers, vehicles;
  };
  using Links = std::map<std::string, Link>;
  static Links links(const Writers& writers);
  void add_shared(double now_s, const Links& found, Strings& problems);
  static void add_shadowed(const Links& found, Strings& problems);

  std::map<std::pair<std::string, std::string>, double> doubled_s_;
};

}  // namespace pqc_mav_proxy_cpp
