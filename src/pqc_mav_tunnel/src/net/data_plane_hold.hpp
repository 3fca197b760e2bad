// SPDX-License-Identifier: Apache-2.0
// The first data thread's hand on another one's links. Only these two ever meet at this lock, the other thread takes it
// once for each wake-up, and not while it waits: packets do not compete for it.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include "net/data_plane.hpp"

namespace pqcmav {

class [[nodiscard]] DataPlane::Hold {
 public:
  Hold() noexcept = default;  // of a link of its own
  explicit Hold(DataPlane& plane) : plane_(&plane) {
    // Under load the other thread would take its next turn before this one has woken: it waits for whoever wants one.
    plane.wanted_.fetch_add(1, std::memory_order_relaxed);
    turn_ = std::unique_lock(plane.turn_);
    plane.wanted_.fetch_sub(1, std::memory_order_relaxed);
  }
  Hold(Hold&& other) noexcept : plane_(std::exchange(other.plane_, nullptr)), turn_(std::move(other.turn_)) {}
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  Hold& operator=(Hold&&) = delete;
  /// What was put into a shaper or a bundle leaves at a time that the other thread does not know yet.
  ~Hold() {
    if (plane_ != nullptr && (plane_->shaping_ || !plane_->bundling_.empty())) ring(plane_->wake_);
  }

 private:
  DataPlane* plane_ = nullptr;
  std::unique_lock<std::recursive_mutex> turn_;
};

}  // namespace pqcmav
