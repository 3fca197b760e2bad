// SPDX-License-Identifier: Apache-2.0
#include "shape/parameter_pace.hpp"

#include <algorithm>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kPause = kS;                               // after which a portion begins anew
constexpr std::uint64_t kLost = 2 * kS;                            // of a PROBE without an answer
constexpr std::uint64_t kNoQueue = 100 * kMs, kQueue = 400 * kMs;  // that a portion may make

}  // namespace

void ParameterPace::open(std::size_t portion, std::uint64_t now) noexcept {
  portion_ = std::clamp(portion, kLeast, kMost);
  used_ = 0;
  spent_ = false;
  probe_ = 0;
  opened_at_ = now;
}

bool ParameterPace::takes(std::size_t bytes, std::uint64_t now) noexcept {
  if (probe_ != 0 && now >= probed_at_ + kLost) open(portion_ / 2, now);
  if (!spent_ && now >= opened_at_ + kPause) open(std::min(portion_, kFirst), now);  // the link may be another one now
  if (spent_ || used_ + bytes > portion_) {
    spent_ = true;
    return false;
  }
  used_ += bytes;
  return true;
}

void ParameterPace::probed(std::uint32_t id, std::uint64_t now) noexcept {
  probe_ = id;
  probed_at_ = now;
}

void ParameterPace::answered(std::uint32_t id, std::optional<std::uint64_t> least, std::uint64_t now) noexcept {
  if (id != probe_ || probe_ == 0) return;
  const auto took = now - probed_at_;
  const auto queued = took - std::min(took, least.value_or(took));
  open(queued <= kNoQueue ? 2 * portion_ : queued > kQueue ? portion_ / 2 : portion_, now);
}

}  // namespace pqcmav
