// SPDX-License-Identifier: Apache-2.0
// What the engine says as ROS messages. It speaks their names: each field is filled with what has its name, by the
// description of the message that ROS makes.
#pragma once

#include <nlohmann/json.hpp>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <std_msgs/msg/header.hpp>

namespace pqc_mav_proxy_cpp {

using Json = nlohmann::ordered_json;
using std_msgs::msg::Header;

/// Fills the fields of a message of this type. What is null or not known is NaN in a float field.
void fill(void* message, const rosidl_message_type_support_t& type, const Json& picture);

template <typename Message>
void fill(Message& message, const Json& picture) {
  fill(&message, *rosidl_typesupport_cpp::get_message_type_support_handle<Message>(), picture);
}

template <typename Message>
Message message_of(const Json& picture, const Header& header) {
  Message out;
  fill(out, picture);
  out.header = header;
  return out;
}

}  // namespace pqc_mav_proxy_cpp
