// SPDX-License-Identifier: Apache-2.0
// Rates per second out of counters that only grow.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "pqc_mav_tunnel/status.hpp"

namespace pqc_mav_proxy_cpp {

/// The counter of this name; 0 when the engine has none of it.
std::uint64_t counter(const pqcmav::NamedCounters& counters, std::string_view name);

/// Remembers the last reading of each drone's counters. Time is an argument: seconds of a monotonic clock.
class RateMeter {
 public:
  /// Since the last call for this drone; zeros on the first call and after the counters started anew.
  pqcmav::LinkRates update(const pqcmav::LinkStats& stats, double now_s);

 private:
  struct Reading {
    double at_s = 0;
    std::array<std::uint64_t, 4> counters{};
  };
  std::map<std::string, Reading> last_;
};

}  // namespace pqc_mav_proxy_cpp
