// SPDX-License-Identifier: Apache-2.0
#include "conversions.hpp"

#include <algorithm>
#include <limits>
#include <rosidl_typesupport_introspection_cpp/field_types.hpp>
#include <rosidl_typesupport_introspection_cpp/identifier.hpp>
#include <rosidl_typesupport_introspection_cpp/message_introspection.hpp>
#include <stdexcept>

namespace pqc_mav_proxy_cpp {
namespace {

namespace introspection = rosidl_typesupport_introspection_cpp;

template <typename Value>
void put(void* field, const Json& value) {
  *static_cast<Value*>(field) = value.get<Value>();
}

template <typename Value>
void put_number(void* field, const Json& value) {
  *static_cast<Value*>(field) = value.is_null() ? std::numeric_limits<Value>::quiet_NaN() : value.get<Value>();
}

void put_value(void* field, const introspection::MessageMember& member, const Json& value) {
  switch (member.type_id_) {
    case introspection::ROS_TYPE_BOOLEAN: return put<bool>(field, value);
    case introspection::ROS_TYPE_OCTET:
    case introspection::ROS_TYPE_UINT8: return put<std::uint8_t>(field, value);
    case introspection::ROS_TYPE_UINT32: return put<std::uint32_t>(field, value);
    case introspection::ROS_TYPE_UINT64: return put<std::uint64_t>(field, value);
    case introspection::ROS_TYPE_FLOAT: return put_number<float>(field, value);
    case introspection::ROS_TYPE_DOUBLE: return put_number<double>(field, value);
    case introspection::ROS_TYPE_STRING: return put<std::string>(field, value);
    case introspection::ROS_TYPE_MESSAGE: return fill(field, *member.members_, value);
    default: throw std::logic_error("A message of the tunnel has a field of a type that no picture has.");
  }
}

}  // namespace

void fill(void* message, const rosidl_message_type_support_t& type, const Json& picture) {
  const auto* const found = get_message_typesupport_handle(&type, introspection::typesupport_identifier);
  if (found == nullptr) throw std::logic_error("ROS has no description of a message of the tunnel.");
  const auto& members = *static_cast<const introspection::MessageMembers*>(found->data);
  for (std::uint32_t i = 0; i < members.member_count_; ++i) {
    const auto& member = members.members_[i];
    const auto value = picture.find(member.name_);
    if (value == picture.end()) continue;
    auto* const field = static_cast<std::uint8_t*>(message) + member.offset_;
    if (!member.is_array_) {
      put_value(field, member, *value);
      continue;
    }
    const bool grows = member.array_size_ == 0 || member.is_upper_bound_;
    if (grows) member.resize_function(field, value->size());
    const auto size = grows ? value->size() : std::min(value->size(), member.array_size_);
    for (std::size_t at = 0; at < size; ++at) put_value(member.get_function(field, at), member, (*value)[at]);
  }
}

}  // namespace pqc_mav_proxy_cpp
