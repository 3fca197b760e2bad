// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end the process. SIGHUP: a process that sends it wants everything read again; from the kernel it
// says that the terminal is gone.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace pqc_mav_proxy_cpp {

class Signals {
 public:
  /// Keeps the three for an object of this class. To be called before there is any other thread; rclcpp must not take
  /// them: its handler writes a line to the log, and one that interrupts malloc() waits for it for ever.
  static void block();
  /// Whether SIGINT or SIGTERM waits for an object of this class: for what waits itself while the process starts.
  static bool asked_to_end();

  /// Calls one of both, in a thread of its own, for each signal since `block`.
  Signals(std::function<void()> reload, std::function<void()> end);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace pqc_mav_proxy_cpp
