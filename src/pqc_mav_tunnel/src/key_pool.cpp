#include "src/key_pool.hpp"

#include "pqc_mav_tunnel/error.hpp"
#include "src/net.hpp"

namespace pqcmav {

KeyPool::KeyPool(std::size_t depth, std::uint64_t max_age_ns, std::vector<const KemInfo*> kems) : depth_(depth), max_age_ns_(max_age_ns) {
  for (const auto* kem : kems) pools_[kem];
  if (depth_ == 0) return;
  thread_ = BigThread([this] {
    name_this_thread("pqc-keypool");
    idle_this_thread();
    run();
  });
}

KeyPool::~KeyPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

EphemeralKem KeyPool::take(const KemInfo& kem) {
  if (depth_ != 0) {
    const std::lock_guard lock(mutex_);
    auto& pool = pools_[&kem];
    while (!pool.empty()) {
      auto pooled = std::move(pool.front());
      pool.pop_front();
      wake_.notify_all();
      if (now_ns() - pooled.born_ns < max_age_ns_) return {std::move(pooled.pair), true};
    }
    wake_.notify_all();
  }
  made_.fetch_add(1);
  return {Kem(kem).keypair(), false};
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
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto* kem = next_due(now_ns());
    if (kem == nullptr) {
      wake_.wait_for(lock, std::chrono::nanoseconds(max_age_ns_ / 4 + 1));
      continue;
    }
    lock.unlock();
    std::optional<KemKeyPair> pair;
    try {
      pair = Kem(*kem).keypair();
      made_.fetch_add(1);
    } catch (const TunnelError&) {
      // The handshake that needs this KEM makes its own pair and reports why it cannot.
    }
    lock.lock();
    if (pair)
      pools_[kem].push_back({std::move(*pair), now_ns()});
    else
      pools_.erase(kem);
  }
}

}  // namespace pqcmav
