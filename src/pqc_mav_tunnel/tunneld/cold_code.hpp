// SPDX-License-Identifier: Apache-2.0
// Pages of code that only the start and handshakes used. They are half of what a daemon with a session has in memory: a
// handshake goes through liboqs, OpenSSL and the loader's tables, a packet through little of them.
#pragma once

#include <chrono>

namespace pqcmav {

/// Unmaps what the executable and its libraries have mapped but do not write to. The pages stay in the kernel's cache,
/// from where those that are needed again come back one fault at a time, and the kernel may take the others for
/// something else. Nothing that a process wrote is touched.
void let_go_of_code();

/// Says when: once no handshake has come for kQuiet, so that a ground station whose drones come and go never does it.
class ColdCode {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kQuiet{5};

  /// A handshake took place, or the start.
  void used(Clock::time_point now) {
    used_ = now;
    quiet_to_come_ = true;
  }
  /// True once after each quiet.
  bool due(Clock::time_point now) {
    if (!quiet_to_come_ || now - used_ < kQuiet) return false;
    quiet_to_come_ = false;
    return true;
  }

 private:
  Clock::time_point used_{};
  bool quiet_to_come_ = false;
};

}  // namespace pqcmav
