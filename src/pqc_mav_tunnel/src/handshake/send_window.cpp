// SPDX-License-Identifier: Apache-2.0
#include "handshake/send_window.hpp"

#include <algorithm>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr double kLeast = 2, kMost = 256;
constexpr std::uint64_t kGapMost = 50 * kMs, kCrowdedLeast = 30 * kMs;
constexpr std::uint32_t kSentForLeastLoss = 8, kSentForLoss = 16;
constexpr double kLossMargin = 0.2, kShrink = 0.7;

}  // namespace

std::uint64_t SendWindow::gap(const RttEstimator& rtt) const noexcept {
  // Without a sample no more than the first window goes out, and that at once: waiting 1 ms for each would make a
  // handshake over loopback ten times as long, and the smallest modem buffer takes ten datagrams.
  if (!rtt.srtt()) return 0;
  return std::min(kGapMost, static_cast<std::uint64_t>(static_cast<double>(*rtt.srtt()) / (1.25 * size_)));
}

void SendWindow::on_rtt(std::uint64_t rtt) noexcept { round_least_ = std::min(round_least_, rtt); }

bool SendWindow::crowded(const RttEstimator& rtt) noexcept {
  const auto loss = static_cast<double>(lost_) / static_cast<double>(sent_);
  if (sent_ >= kSentForLeastLoss) least_loss_ = std::min(least_loss_, loss);
  const bool waits =
      round_least_ != ~std::uint64_t{0} && round_least_ > rtt.least() + std::max(kCrowdedLeast, rtt.least() / 2);
  return waits || (sent_ >= kSentForLoss && loss > least_loss_ + kLossMargin);
}

void SendWindow::on_ack(std::uint32_t echo, std::uint32_t next_packet, const RttEstimator& rtt) noexcept {
  if (echo < round_end_ || sent_ == 0) return;
  if (crowded(rtt)) {
    size_ = std::max(kLeast, kShrink * size_);
    doubling_ = false;
  } else {
    size_ = std::min(kMost, doubling_ ? 2 * size_ : size_ + std::max(1.0, size_ / 8));
  }
  round_end_ = next_packet;
  sent_ = lost_ = 0;
  round_least_ = ~std::uint64_t{0};
}

}  // namespace pqcmav
