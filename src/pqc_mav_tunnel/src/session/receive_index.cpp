// SPDX-License-Identifier: Apache-2.0
#include "session/receive_index.hpp"

#include <algorithm>
#include <utility>

namespace pqcmav {

ReceiveIndex::ReceiveIndex(ReceiveIndex&& other) noexcept
    : pool_(std::move(other.pool_)), value_(other.value_), used_(other.used_) {}

ReceiveIndex& ReceiveIndex::operator=(ReceiveIndex&& other) noexcept {
  if (this == &other) return *this;
  release();
  pool_ = std::move(other.pool_);
  value_ = other.value_;
  used_ = other.used_;
  return *this;
}

void ReceiveIndex::release() noexcept {
  if (const auto pool = std::exchange(pool_, nullptr)) pool->give_back(value_, used_);
}

std::shared_ptr<IndexPool> IndexPool::make(std::size_t size, std::uint64_t rest_ns,
                                           std::function<std::uint64_t()> clock, std::size_t first, std::size_t step) {
  return std::shared_ptr<IndexPool>(new IndexPool(size, rest_ns, std::move(clock), first, step));
}

ReceiveIndex IndexPool::take() {
  const std::lock_guard lock(mutex_);
  const auto now = clock_();
  auto free = std::find_if(free_from_.begin(), free_from_.end(), [now](auto from) { return from <= now; });
  if (free == free_from_.end()) {
    if (free_from_.size() == size_) return {};
    free = free_from_.insert(free_from_.end(), 0);
  }
  *free = kTaken;
  return {shared_from_this(),
          static_cast<std::uint16_t>(first_ + step_ * static_cast<std::size_t>(free - free_from_.begin()))};
}

void IndexPool::give_back(std::uint16_t value, bool used) noexcept {
  const std::lock_guard lock(mutex_);
  free_from_[(value - first_) / step_] = used ? clock_() + rest_ns_ : 0;
}

}  // namespace pqcmav
