// SPDX-License-Identifier: Apache-2.0
// Threads for work that waits, one for each piece.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace pqc_mav_proxy_cpp {

class Workers {
 public:
  /// Runs the work in a thread of its own; clears away those that are done.
  void run(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    workers_.remove_if([](const Worker& worker) { return worker.done.load(); });
    auto& worker = workers_.emplace_back();
    worker.thread = std::jthread([&worker, work = std::move(work)] {
      work();
      worker.done = true;
    });
  }
  /// Waits for all of them.
  void join() {
    const std::lock_guard lock(mutex_);
    workers_.clear();
  }

 private:
  struct Worker {
    std::atomic<bool> done = false;
    std::jthread thread;  // joins when it goes
  };
  std::mutex mutex_;
  std::list<Worker> workers_;
};

}  // namespace pqc_mav_proxy_cpp
