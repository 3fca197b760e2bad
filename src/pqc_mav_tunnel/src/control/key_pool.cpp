// SPDX-License-Identifier: Apache-2.0
#include "control/key_pool.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>

#include "crypto/wipe_stack.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

/// The idle thread may lose the processor while it holds the lock, and on a busy machine that takes long: a handshake
/// does not wait for it.
constexpr std::uint64_t kPatienceNs = 2'000'000;
constexpr std::chrono::microseconds kBetweenTries{20};

/// As std::unique_lock with a time limit on a timed mutex, which ThreadSanitizer of GCC 12 does not know.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  for (const auto until = now_ns() + kPatienceNs; !lock && now_ns() < until; (void)lock.try_lock())
    std::this_thread::sleep_for(kBetweenTries);
  return lock;
}

}  // namespace

KeyPool::KeyPool(std::size_t depth, std::uint64_t max_age_ns, std::vector<const KemInfo*> kems)
    : depth_(depth), max_age_ns_(max_age_ns), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  for (const auto* kem : kems) pools_[kem];
  if (depth_ == 0) return;
  thread_ = BigThread([this] {
    name_this_thread("pqc-keypool");
    idle_this_thread();
    run();
  });
}

KeyPool::~KeyPool() {
  stopping_ = true;
  wake();
  thread_.hurry();
}

void KeyPool::wake() noexcept { ring(wake_); }

EphemeralKem KeyPool::take(const KemInfo& kem) {
  if (depth_ != 0) {
    std::optional<Pooled> taken;
    if (const auto lock = lock_soon(mutex_); lock) {
      auto& pool = pools_[&kem];
      while (!pool.empty() && now_ns() - pool.front().born_ns >= max_age_ns_) pool.pop_front();
      if (!pool.empty()) {
        taken = std::move(pool.front());
        pool.pop_front();
      }
    }
    wake();
    if (taken) return {std::move(taken->pair), true};
  }
  made_.fetch_add(1);
  return {Kem(kem).keypair(), false};
}

void KeyPool::clear() {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [kem, pool] : pools_) pool.clear();
  }
  wake();
}

std::size_t KeyPool::ready(const KemInfo& kem) const {
  const std::lock_guard lock(mutex_);
  const auto it = pools_.find(&kem);
  return it == pools_.end() ? 0 : it->second.size();
}

const KemInfo* KeyPool::next_due(std::uint64_t now) {
  const KemInfo* due = nullptr;
  for (auto& [kem, pool] : pools_) {
    while (!pool.empty() && now - pool.front().born_ns >= max_age_ns_) pool.pop_front();
    if (due == nullptr && pool.size() < depth_ && !resolve(*kem).empty()) due = kem;
  }
  return due;
}

void KeyPool::run() {
  // How often old pairs are looked for.
  const auto pause_ms =
      static_cast<int>(std::min<std::uint64_t>(max_age_ns_ / 4'000'000 + 1, std::numeric_limits<int>::max()));
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!stopping_) {
    lock.lock();
    const auto* kem = next_due(now_ns());
    lock.unlock();
    if (kem == nullptr) {
      pollfd wait{wake_.get(), POLLIN, 0};
      (void)::poll(&wait, 1, pause_ms);
      drain(wake_);
      continue;
    }
    std::optional<KemKeyPair> pair;
    try {
      pair = Kem(*kem).keypair();
      made_.fetch_add(1);
    } catch (const TunnelError&) {
      // The handshake that needs this KEM makes its own pair and reports why it cannot.
    }
    wipe_stack();
    lock.lock();
    if (pair)
      pools_[kem].push_back({std::move(*pair), now_ns()});
    else
      pools_.erase(kem);
    lock.unlock();
  }
}

}  // namespace pqcmav
