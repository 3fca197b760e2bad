// SPDX-License-Identifier: Apache-2.0
// Threads for the expensive half of handshakes: key generation, signatures, decapsulation.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "control/fair_queue.hpp"
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

  /// Any thread. After stop() jobs are dropped. `owner` as in FairQueue; `id` is for drop().
  void add(Standing standing, const std::string& owner, std::uint64_t id, Job job);
  /// Any thread. Drops a job that has not begun; one that runs goes on.
  void drop(std::uint64_t id);
  /// Any thread. About how long (ns) a job would wait that came now, from what the last ones took; 0 before the first.
  [[nodiscard]] std::uint64_t wait_ns(Standing standing) const;
  /// Drops what waits and returns when the running jobs have ended.
  void stop();

 private:
  void work();

  mutable std::mutex mutex_;
  std::condition_variable ready_;
  FairQueue<Job> jobs_;
  std::size_t running_ = 0;
  double mean_ns_ = 0;  // of a job, the newer ones more
  bool stopping_ = false;
  std::vector<BigThread> threads_;
};

}  // namespace pqcmav
