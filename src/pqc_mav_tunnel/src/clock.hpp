// SPDX-License-Identifier: Apache-2.0
// The one clock of the engine: monotonic, in nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace pqcmav {

inline std::uint64_t now_ns() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Counts while the machine sleeps, too: for the age of keys.
inline std::uint64_t boot_ns() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Settings and protocol times in the clock's unit.
constexpr std::uint64_t to_ns(std::chrono::nanoseconds duration) noexcept {
  return static_cast<std::uint64_t>(duration.count());
}
constexpr std::uint64_t to_ns(double seconds) noexcept { return static_cast<std::uint64_t>(seconds * 1e9); }

}  // namespace pqcmav
