// SPDX-License-Identifier: Apache-2.0
#include "control/worker_pool.hpp"

#include "clock.hpp"
#include "crypto/wipe_stack.hpp"

namespace pqcmav {
namespace {

constexpr int kNice = 5;
constexpr double kNewest = 1.0 / 16;  // what the newest job counts in the mean

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

void WorkerPool::add(Standing standing, const std::string& owner, std::uint64_t id, Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    jobs_.push(standing, owner, id, std::move(job));
  }
  ready_.notify_one();
}

void WorkerPool::drop(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  jobs_.drop(id);
}

std::uint64_t WorkerPool::wait_ns(Standing standing) const {
  const std::lock_guard lock(mutex_);
  const auto before = jobs_.ahead(standing) + (running_ + 1) / 2;  // those that run are half done
  return static_cast<std::uint64_t>(static_cast<double>(before) * mean_ns_ /
                                    static_cast<double>(std::max<std::size_t>(threads_.size(), 1)));
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
    std::optional<Job> job;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = jobs_.pop();
      ++running_;
    }
    const auto began = now_ns();
    (*job)();
    job.reset();
    wipe_stack();
    const auto took = static_cast<double>(now_ns() - began);
    const std::lock_guard lock(mutex_);
    --running_;
    mean_ns_ += mean_ns_ == 0 ? took : (took - mean_ns_) * kNewest;
  }
}

}  // namespace pqcmav
