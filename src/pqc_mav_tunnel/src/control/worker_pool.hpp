// SPDX-License-Identifier: Apache-2.0
// Threads for the expensive half of handshakes: key generation, signatures, decapsulation.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "thread.hpp"

namespace pqcmav {

class WorkerPool {
 public:
  using Job = std::function<void()>;
  /// They run with large stacks, at lower priority than the data thread.
  explicit WorkerPool(std::size_t threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Any thread. After stop() jobs are dropped.
  void add(Job job);
  /// Drops what waits and returns when the running jobs have ended.
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::vector<BigThread> threads_;
};

}  // namespace pqcmav
