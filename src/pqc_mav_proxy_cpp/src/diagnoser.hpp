// SPDX-License-Identifier: Apache-2.0
// What /diagnostics says of the tunnels: levels and sentences out of the engine's figures.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "diagnostic.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqc_mav_proxy_cpp {

/// Turns readings, taken once a second, into diagnostics; remembers the last reading to see what grew.
class Diagnoser {
 public:
  explicit Diagnoser(std::string role) : role_(std::move(role)) {}
  /// The state of one drone's tunnel; `link` may be nullptr.
  Diagnostic tunnel(const pqcmav::LinkStatus& status, const pqcmav::LinkStats& stats,
                    const pqcmav::LinkQualityView* link);
  /// Handshakes at the gcs: what strangers try there.
  Diagnostic handshake_server(const pqcmav::NamedCounters& totals);
  /// The port of the encrypted side: whether this machine takes what comes.
  Diagnostic data_port(const pqcmav::NamedCounters& totals);

 private:
  using Watched = std::span<const pqcmav::WatchedCounter>;
  /// What has grown since the last time that this owner was asked for; `except` is remembered, but not told.
  std::string grown(const std::string& owner, const pqcmav::NamedCounters& counters, Watched watched,
                    std::string_view except = {});

  std::string role_;
  std::map<std::string, std::map<std::string_view, std::uint64_t>> last_;
};

}  // namespace pqc_mav_proxy_cpp
