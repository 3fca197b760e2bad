// SPDX-License-Identifier: Apache-2.0
#include "shape/autopilot_pace.hpp"

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kEvery = kS, kAfterwards = 60 * kS;
constexpr unsigned kScarce = 50;  // per cent; ArduPilot and PX4 slow down below it

}  // namespace

bool AutopilotPace::due(unsigned free_percent, bool shaped, std::uint64_t now) noexcept {
  const bool scarce = free_percent < kScarce;
  if (shaped || scarce) until_ns_ = now + kAfterwards;
  if (now >= until_ns_) return false;
  if (scarce == scarce_ && now < next_ns_) return false;
  scarce_ = scarce;
  next_ns_ = now + kEvery;
  return true;
}

}  // namespace pqcmav
