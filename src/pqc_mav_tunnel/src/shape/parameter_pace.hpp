// SPDX-License-Identifier: Apache-2.0
// An autopilot sends its list of parameters within a second, which is more than the queue before a thin link holds. As
// long as nothing is known of the link, such values leave in portions: behind each goes a PROBE, and the next portion
// when that is answered. Portions grow as long as they do not wait in the link. No clock: times are arguments, in ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pqcmav {

class ParameterPace {
 public:
  static constexpr std::size_t kLeast = 512, kFirst = 2'048, kMost = 65'536;  // bytes of a portion

  /// May so many bytes leave now? If so, they count.
  [[nodiscard]] bool takes(std::size_t bytes, std::uint64_t now) noexcept;
  /// Something waits for the next portion, and no PROBE is on its way for it.
  [[nodiscard]] bool wants_probe() const noexcept { return spent_ && probe_ == 0; }
  /// It left, with this number.
  void probed(std::uint32_t id, std::uint64_t now) noexcept;
  /// A PROBE was answered; `least`: the way's least round trip.
  void answered(std::uint32_t id, std::optional<std::uint64_t> least, std::uint64_t now) noexcept;

 private:
  void open(std::size_t portion, std::uint64_t now) noexcept;

  std::size_t portion_ = kFirst, used_ = 0;
  bool spent_ = false;
  std::uint32_t probe_ = 0;  // 0: none is on its way
  std::uint64_t probed_at_ = 0, opened_at_ = 0;
};

}  // namespace pqcmav
