// SPDX-License-Identifier: Apache-2.0
// Where a system listens beyond its machine, and what of that is meant: the tunnel, DDS, addresses allowed by name.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic.hpp"
#include "siblings.hpp"

namespace pqc_mav_proxy_cpp {

/// A port and whether it is one of UDP, not of TCP.
using Listener = std::pair<bool, int>;

/// What this process opens on purpose: `tunnel` ports; `plain` ports (UDP) and `listeners` where others are let in; and
/// addresses.
struct Meant {
  std::set<int> tunnel, plain;
  std::set<std::string> addresses;
  std::set<Listener> listeners = {};
};

/// What these processes hold open, as /diagnostics says it; `meant` is about this very process.
Diagnostic exposure(const std::vector<Sibling>& processes, std::size_t domain, const Meant& meant);

}  // namespace pqc_mav_proxy_cpp
