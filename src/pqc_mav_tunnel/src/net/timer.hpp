// SPDX-License-Identifier: Apache-2.0
// A timer descriptor that rings at a time of the engine's clock.
#pragma once

#include <sys/timerfd.h>

#include <ctime>

#include "fd.hpp"

namespace pqcmav {

/// Rings at `due`, or never. `armed` says what the timer is set to: setting it costs a system call.
inline void arm(const Fd& timer, std::uint64_t due, std::uint64_t& armed) noexcept {
  constexpr std::uint64_t kNanoseconds = 1'000'000'000;
  if (due == armed) return;
  armed = due;
  itimerspec when{};
  if (due != ~std::uint64_t{0}) {
    when.it_value.tv_sec = static_cast<time_t>(due / kNanoseconds);
    when.it_value.tv_nsec = static_cast<long>(due % kNanoseconds) + (due == 0 ? 1 : 0);
  }
  ::timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace pqcmav
