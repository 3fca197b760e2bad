// SPDX-License-Identifier: Apache-2.0
// Something to do before ROS is shut down, while topics can still be published.
#pragma once

#include <functional>
#include <rclcpp/context.hpp>
#include <utility>

namespace pqc_mav_proxy_cpp {

class ShutdownHook {
 public:
  ShutdownHook(rclcpp::Context::SharedPtr context, std::function<void()> hook)
      : context_(std::move(context)), handle_(context_->add_pre_shutdown_callback(std::move(hook))) {}
  ~ShutdownHook() { context_->remove_pre_shutdown_callback(handle_); }
  ShutdownHook(const ShutdownHook&) = delete;
  ShutdownHook& operator=(const ShutdownHook&) = delete;

 private:
  rclcpp::Context::SharedPtr context_;
  rclcpp::PreShutdownCallbackHandle handle_;
};

}  // namespace pqc_mav_proxy_cpp
