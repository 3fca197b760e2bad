// SPDX-License-Identifier: Apache-2.0
// How long the good handshakes of each kind took, as a histogram, and why the others failed: for whoever asks seldom,
// and must miss none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pqc_mav_tunnel/events.hpp"

namespace pqcmav {

inline constexpr std::size_t kHandshakeKinds = 4;
inline constexpr std::size_t kHandshakeErrors = static_cast<std::size_t>(HandshakeError::cancelled) + 1;
/// Upper ends of the histogram's buckets in milliseconds, themselves included; one bucket more is for what took longer.
inline constexpr std::array<std::uint32_t, 15> kHandshakeBuckets = {1,   2,    5,    10,   20,    50,    100,  200,
                                                                    500, 1000, 2000, 5000, 10000, 20000, 50000};

class HandshakeTally {
 public:
  struct Kind {
    std::array<std::uint64_t, kHandshakeBuckets.size() + 1> counts{};  // of each bucket alone
    std::uint64_t sum_ns = 0;
    std::array<std::uint64_t, kHandshakeErrors> failed{};  // by HandshakeError
  };

  void add(const HandshakeEvent& event);
  [[nodiscard]] const Kind& of(HandshakeKind kind) const noexcept { return kinds_[static_cast<std::size_t>(kind)]; }

 private:
  std::array<Kind, kHandshakeKinds> kinds_;
};

}  // namespace pqcmav
