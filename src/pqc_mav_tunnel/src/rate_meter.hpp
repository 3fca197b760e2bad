// SPDX-License-Identifier: Apache-2.0
// Rates per second out of counters that only grow.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

/// Measures once a second, or whenever it is asked more seldom. Any thread.
class RateMeter {
 public:
  /// Gives all links their rates as measured last; 0 until a link has been seen twice.
  void measure(std::vector<LinkStats>& links, std::uint64_t now_ns);

 private:
  struct Known {
    std::array<std::uint64_t, 4> counted{};
    LinkRates rates;
  };
  std::mutex mutex_;
  std::uint64_t measured_ns_ = 0;
  std::map<std::string, Known, std::less<>> known_;
};

}  // namespace pqcmav
