// SPDX-License-Identifier: Apache-2.0
#include "control/worker_pool.hpp"

#include "crypto/wipe_stack.hpp"

namespace pqcmav {
namespace {

constexpr int kNice = 5;

}  // namespace

WorkerPool::WorkerPool(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i)
    threads_.emplace_back([this] {
      name_this_thread("pqc-handshake");
      lower_this_thread(kNice);
      work();
    });
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::add(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    jobs_.push_back(std::move(job));
  }
  ready_.notify_one();
}

void WorkerPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  ready_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void WorkerPool::work() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
    job = nullptr;
    wipe_stack();
  }
}

}  // namespace pqcmav
