// SPDX-License-Identifier: Apache-2.0
// The thread of all hubs of this process: serial ports and applications besides the data thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
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

  // Any thread.
  /// Throws TunnelError. The sockets are open from then on, until close() or stop().
  std::shared_ptr<PlainHub> add(const std::string& link, const std::string& key,
                                const std::vector<PlainEndpoint>& endpoints);
  /// Closes its sockets: its ports are free when this returns. Its counters can still be read.
  void close(PlainHub& hub);
  /// Idempotent.
  void start();
  /// Ends the thread and closes all sockets.
  void stop();

 private:
  void run();

  PlainHubOptions options_;
  EventQueue& events_;
  PlainWatch watch_;
  Fd wake_;
  std::mutex hubs_mutex_;                        // held while anything is done to hubs, but not while the thread sleeps
  std::vector<std::shared_ptr<PlainHub>> hubs_;  // by number; empty once closed
  bool news_ = false;                            // a hub was added
  std::thread thread_;
  std::atomic<bool> stopping_{false};
};

}  // namespace pqcmav
