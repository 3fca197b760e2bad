// SPDX-License-Identifier: Apache-2.0
// Times of a handshake: what the primitives took by the process's own clock, and when messages passed by the caller's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clock.hpp"
#include "pqc_mav_tunnel/handshake_outcome.hpp"

namespace pqcmav {

/// Adds to `total` what `work` takes, and gives its result.
template <typename Work>
auto timed(std::uint64_t& total, Work&& work) {
  struct Lap {
    std::uint64_t& total;
    std::uint64_t began = now_ns();
    ~Lap() { total += now_ns() - began; }
  } lap{total};
  return work();
}

/// Fills HandshakeTimes::phases. A message is seen when the call that brought its first byte began, and sent when the
/// call returns it: the caller's `now` plus the time spent in the call.
class PhaseClock {
 public:
  explicit PhaseClock(HandshakeTimes& times) noexcept : times_(times) {}

  void enter(std::uint64_t now) noexcept {
    now_ns_ = now;
    began_ns_ = now_ns();
    if (!connected_) last_ns_ = now;
    connected_ = true;
  }
  void seen(std::size_t message) noexcept { mark(message, now_ns_); }
  void sent(std::size_t message) noexcept { mark(message, now_ns_ + (now_ns() - began_ns_)); }

 private:
  void mark(std::size_t message, std::uint64_t at_ns) noexcept {
    times_.phases[message - 1] = at_ns > last_ns_ ? at_ns - last_ns_ : 0;
    last_ns_ = at_ns;
  }
  HandshakeTimes& times_;
  std::uint64_t now_ns_ = 0, began_ns_ = 0, last_ns_ = 0;
  bool connected_ = false;
};

}  // namespace pqcmav
