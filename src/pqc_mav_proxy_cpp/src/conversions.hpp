// SPDX-License-Identifier: Apache-2.0
// What the engine says as ROS messages. It speaks their names: each field is filled with what has its name, by the
// description of the message that ROS makes.
#pragma once

#include <pqc_mav_interfaces/msg/tunnel_status.hpp>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <std_msgs/msg/header.hpp>
#include <string>

#include "pqc_mav_tunnel/picture.hpp"

namespace pqc_mav_proxy_cpp {

namespace msg = pqc_mav_interfaces::msg;
using std_msgs::msg::Header;

/// Fills the fields of a message of this type. What is null or not known is NaN in a float field.
void fill(void* message, const rosidl_message_type_support_t& type, const pqcmav::Json& picture);

template <typename Message>
Message message_of(const pqcmav::Json& picture) {
  Message out;
  fill(&out, *rosidl_typesupport_cpp::get_message_type_support_handle<Message>(), picture);
  return out;
}

template <typename Message>
Message message_of(const pqcmav::Json& picture, const Header& header) {
  auto out = message_of<Message>(picture);
  out.header = header;
  return out;
}

/// The last status of a drone that is not served any more.
msg::TunnelStatus removed_message(const std::string& drone_id, const std::string& role, const Header& header);

}  // namespace pqc_mav_proxy_cpp
