// SPDX-License-Identifier: Apache-2.0
// Under which of its addresses a drone asks for the gcs by one of several paths.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "net/net.hpp"

namespace pqcmav {

struct PathAddress {
  SockAddr to;
  bool sure = true;  // no other one can turn out to be better
};

/// `answered` is where the session's handshake had its answer, if this path has the same name; `find` says
/// what the name has now. While the path's interface has no way to any of them, as before it comes, the one that answered is the best
/// guess: of a name's addresses one may be out of reach for good.
inline std::optional<PathAddress> path_address(const std::optional<SockAddr>& answered,
                                               const std::function<std::vector<SockAddr>()>& find,
                                               const std::function<bool(const SockAddr&)>& routed) {
  if (answered && routed(*answered)) return PathAddress{*answered};
  const auto found = find();
  if (const auto good = std::ranges::find_if(found, routed); good != found.end()) return PathAddress{*good};
  if (answered) return PathAddress{*answered, found.size() == 1};
  if (found.empty()) return std::nullopt;
  return PathAddress{found.front(), found.size() == 1};
}

}  // namespace pqcmav
