// SPDX-License-Identifier: Apache-2.0
#include "control/backoff.hpp"

#include <algorithm>

#include "clock.hpp"

namespace pqcmav {

Backoff::Backoff(std::uint64_t seed, std::chrono::nanoseconds first, std::chrono::nanoseconds most)
    : random_(static_cast<std::minstd_rand::result_type>(seed)), first_(to_ns(first)), most_(to_ns(most)) {}

std::uint64_t Backoff::next_ns() {
  const auto base = std::min(most_, first_ << std::min(step_, 10u));
  ++step_;
  return base - base / 5 + std::uniform_int_distribution<std::uint64_t>(0, 2 * base / 5)(random_);
}

std::uint64_t wait_after(HandshakeError error, Backoff& backoff) {
  const bool at_once = error == HandshakeError::timeout || error == HandshakeError::cancelled;
  return at_once ? 0 : backoff.next_ns();
}

std::uint64_t jittered_ns(double seconds, std::minstd_rand& random) {
  return to_ns(seconds * std::uniform_real_distribution(0.9, 1.1)(random));
}

std::uint64_t first_rekey_ns(double seconds, std::minstd_rand& random) {
  return to_ns(seconds * std::uniform_real_distribution(0.1, 1.0)(random));
}

}  // namespace pqcmav
