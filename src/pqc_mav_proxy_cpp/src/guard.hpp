// SPDX-License-Identifier: Apache-2.0
// Watches for ways around the tunnel: sockets of this machine open to the network, mavros nodes that share topics.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnostic.hpp"
#include "mavros_graph.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqc_mav_proxy_cpp {

/// Looks every ten seconds and remembers what it saw. Times are seconds of a monotonic clock.
class Guard {
 public:
  using OnError = std::function<void(const std::string&)>;
  using FindWriters = std::function<Writers()>;

  /// `on_error` is told an error once, when it appears or changes. Reads two variables of the environment
  /// (siblings.hpp).
  Guard(std::size_t domain, OnError on_error, FindWriters writers);
  /// `ports` and the tunnels' `stats` as the engine tells them.
  const std::vector<Diagnostic>& diagnostics(double now_s, const pqcmav::EnginePorts& ports,
                                             const std::vector<pqcmav::LinkStats>& stats);

 private:
  void look(double now_s, const pqcmav::EnginePorts& ports, const std::vector<pqcmav::LinkStats>& stats);

  std::string mark_;
  std::set<std::string> allowed_;
  std::size_t domain_;
  OnError on_error_;
  FindWriters writers_;
  MavrosGraph graph_;
  std::string said_;
  std::optional<double> at_s_;
  std::vector<Diagnostic> seen_;
};

}  // namespace pqc_mav_proxy_cpp
