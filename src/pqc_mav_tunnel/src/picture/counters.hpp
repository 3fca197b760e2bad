// SPDX-License-Identifier: Apache-2.0
// The rows of all counters.
#pragma once

#include "picture/field.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

std::span<const Row<LinkCounters>> link_counters() noexcept;
std::span<const Row<ProcessCounters>> process_counters() noexcept;
/// Those that a gcs has besides.
std::span<const Row<ServerCounters>> server_counters() noexcept;
std::span<const Row<RelayCounters>> relay_counters() noexcept;

/// As those of status.hpp: of the process, what snapshots do.
std::span<const WatchedCounter> watched_of_snapshots();

/// What they say now.
template <typename Of>
void add_named(NamedCounters& out, std::span<const Row<Of>> rows, const Of& of) {
  for (const auto& row : rows) out.emplace_back(row.field.name, row.count(of));
}

}  // namespace pqcmav
