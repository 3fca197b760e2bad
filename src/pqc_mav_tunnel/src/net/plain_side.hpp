// SPDX-License-Identifier: Apache-2.0
// The thread of all hubs of this process: serial ports and applications besides the data thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fd.hpp"
#include "net/plain_hub.hpp"

namespace pqcmav {

class PlainSide {
 public:
  PlainSide(const PlainHubOptions& options, EventQueue& events);
  ~PlainSide();
  PlainSide(const PlainSide&) = delete;
  PlainSide& operator=(const PlainSide&) = delete;

  /// Before start(). Throws TunnelError. The hub lives as long as this.
  PlainHub& add(const std::string& link, const std::string& key, const std::vector<PlainEndpoint>& endpoints);
  void start();
  void stop();

 private:
  void run();

  PlainHubOptions options_;
  EventQueue& events_;
  PlainWatch watch_;
  Fd wake_;
  std::vector<std::unique_ptr<PlainHub>> hubs_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
};

}  // namespace pqcmav
