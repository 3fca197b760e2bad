// SPDX-License-Identifier: Apache-2.0
// What /diagnostics says of an engine: levels and sentences out of its figures.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "picture/counters.hpp"
#include "pqc_mav_tunnel/picture.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

/// One for each who asks: it remembers the last readings, to say what grew since. Any thread.
class Diagnoser {
 public:
  /// A list under the names of diagnostic_msgs/DiagnosticStatus: each link, the data port, snapshots and, at a gcs, what
  /// strangers try. `name` is that of the part alone. Values are written as Python writes them.
  Json diagnose(const std::vector<LinkStatus>& statuses, const std::vector<LinkStats>& stats,
                const std::vector<LinkQualityView>& links, const NamedCounters& totals);

 private:
  using Watched = std::span<const WatchedCounter>;
  using Seen = std::map<std::string, std::vector<std::uint64_t>, std::less<>>;

  Json tunnel(const LinkStatus& status, const LinkStats& stats, const LinkQualityView* link);
  /// The figures of a part of the process, and `quiet` unless one grew.
  Json part(std::string_view name, const NamedCounters& totals, Watched watched, std::string_view quiet,
            std::string_view before, std::string_view cure);
  /// What has grown since the last time; `except` is remembered, but not told.
  std::string grown(const std::string& part, const NamedCounters& counters, Watched watched,
                    std::string_view except = {});

  std::mutex mutex_;
  Seen last_, now_;
};

}  // namespace pqcmav
