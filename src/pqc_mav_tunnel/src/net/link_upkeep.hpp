// SPDX-License-Identifier: Apache-2.0
// What an end says of its link by itself, packed into the TLVs of one control frame: reports, probes and keepalives, and
// what was heard (docs/protocol.md section 11, Pace). No socket and no clock but where a probe's time is taken.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/link.hpp"

namespace pqcmav {

struct UpkeepRules {
  bool drone = false;
  std::uint64_t keepalive_ns = 0;      // without anything sent
  std::uint64_t probe_silence_ns = 0;  // drone: from this silence on it asks more often
};

struct UpkeepWord {
  std::size_t used = 0;        // bytes of `tlvs`; 0: nothing is due
  bool names_session = false;  // it goes with the long header
};

/// What is due now; announcements that are open come along.
[[nodiscard]] UpkeepWord append_upkeep(Link& link, const UpkeepRules& rules, MutableBytes tlvs,
                                       std::uint64_t now) noexcept;
/// SEEN and ARRIVED, where there is something to say.
[[nodiscard]] std::size_t append_seen(const Link& link, MutableBytes tlvs, std::size_t used) noexcept;
/// The answer to a PROBE that came `now`, with what was seen.
[[nodiscard]] std::size_t append_probe_reply(const Link& link, const Probe& probe, MutableBytes tlvs,
                                             std::uint64_t now) noexcept;
/// A PROBE that goes now.
[[nodiscard]] std::size_t append_probe(Link& link, MutableBytes tlvs, std::size_t used, std::uint64_t now) noexcept;
/// What a drone says as soon as it has new keys, so that the gcs switches even when no telemetry flows.
[[nodiscard]] std::size_t append_switched(MutableBytes tlvs, std::uint8_t epoch) noexcept;
/// For how long a drone may hear nothing under keys that are installed now (Session::install).
[[nodiscard]] std::uint64_t turn_ns(const Link& link) noexcept;

}  // namespace pqcmav
