// SPDX-License-Identifier: Apache-2.0
// The node as a plugin that any component container can load.
#include <rclcpp_components/register_node_macro.hpp>

#include "proxy_node.hpp"

RCLCPP_COMPONENTS_REGISTER_NODE(pqc_mav_proxy_cpp::ProxyNode)
