// SPDX-License-Identifier: Apache-2.0
// SIGHUP: a process that sends it wants everything read again; from the kernel it says that the terminal is gone.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace pqc_mav_proxy_cpp {

class Hangups {
 public:
  /// Keeps SIGHUP for an object of this class. To be called before there is any other thread.
  static void block();

  /// Calls one of both, in a thread of its own, for each SIGHUP from now on.
  Hangups(std::function<void()> reload, std::function<void()> end);
  ~Hangups();
  Hangups(const Hangups&) = delete;
  Hangups& operator=(const Hangups&) = delete;

 private:
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace pqc_mav_proxy_cpp
