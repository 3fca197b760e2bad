// SPDX-License-Identifier: Apache-2.0
// How long a drone waits before it tries again, and until its next rekey: spread, so that a fleet does neither in step.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

#include "constants.hpp"
#include "pqc_mav_tunnel/handshake_outcome.hpp"

namespace pqcmav {

/// Waiting times after failures: 0.5 s doubling to 8 s unless said otherwise, each spread by a fifth so that a fleet does
/// not knock in step.
class Backoff {
 public:
  explicit Backoff(std::uint64_t seed, std::chrono::nanoseconds first = kBackoffFirst,
                   std::chrono::nanoseconds most = kBackoffMax);
  [[nodiscard]] std::uint64_t next_ns();
  void reset() noexcept { step_ = 0; }

 private:
  std::minstd_rand random_;
  std::uint64_t first_, most_;
  unsigned step_ = 0;
};

/// The wait after a first handshake that failed. One that heard nothing lasted ten seconds already, and one that gave
/// way has nothing to wait for.
[[nodiscard]] std::uint64_t wait_after(HandshakeError error, Backoff& backoff);

/// The time until the next periodic rekey: the interval and up to a tenth more or less, so that a fleet does not rekey
/// in step either.
[[nodiscard]] std::uint64_t jittered_ns(double seconds, std::minstd_rand& random);
/// The same after a first handshake: between a tenth of the interval and all of it. Drones that connect together, because
/// their gcs was away, would otherwise rekey together for many intervals.
[[nodiscard]] std::uint64_t first_rekey_ns(double seconds, std::minstd_rand& random);

}  // namespace pqcmav
