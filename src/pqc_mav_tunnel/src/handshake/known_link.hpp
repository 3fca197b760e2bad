// SPDX-License-Identifier: Apache-2.0
// What a handshake inside a session knows of the link before its first datagram (docs/protocol.md section 5, rule 12).
// RFC 9040 shares the same things between TCP connections.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace pqcmav {

/// What the session has measured. Times in ns.
struct SessionFigures {
  std::optional<std::uint64_t> full;                // round trip of a full datagram in the handshake before
  std::optional<std::uint64_t> probe, probe_least;  // PROBE's newest and least one
  std::uint32_t loss_ppm = 0;                       // of the worse direction
  std::uint64_t wire_ns = 0;                        // as KnownLink's
};

/// How the handshake begins; as it stands here where nothing is known.
struct KnownLink {
  static constexpr std::uint32_t kWindowLeast = 2, kWindowByWire = 3, kWindowMost = 10;
  static constexpr std::uint64_t kBurst = 300'000'000;          // of the link's time: two datagrams at 64 kbit/s
  static constexpr std::uint64_t kRoundTripMost = 600'000'000;  // no patience beyond what an end has without a sample
  static constexpr std::uint64_t kQueueLeast = 30'000'000;
  static constexpr std::uint32_t kLossy = 30'000;  // ppm

  std::optional<std::uint64_t> round_trip;
  std::uint32_t window = kWindowLeast;
  bool lossy = false;
  std::uint64_t wire_ns = 0;  // over a serial line, where D is 548: how long a full datagram takes there

  static KnownLink of(const SessionFigures& session) noexcept {
    KnownLink out;
    const bool by_wire = session.wire_ns != 0;
    out.lossy = session.loss_ppm >= kLossy && !by_wire;  // a radio loses in bursts, which copies and parity do not mend
    out.wire_ns = session.wire_ns;
    const auto window_least = by_wire ? kWindowByWire : kWindowLeast;
    out.window = window_least;
    if (!session.full || !session.probe || !session.probe_least) return out;
    const auto waits = *session.probe - std::min(*session.probe, *session.probe_least);
    const auto much = std::max(kQueueLeast, *session.probe_least / 2);
    if (waits > much) return out;
    // A full datagram that was that much quicker than any probe went over another link than this one.
    if (*session.full + much < *session.probe_least) return out;
    out.round_trip = std::min(*session.full + waits, by_wire ? ~std::uint64_t{0} : kRoundTripMost);
    // A probe is short: what a full datagram takes longer, it keeps the link busy.
    const auto busy = *session.full - std::min(*session.full, *session.probe_least);
    const auto fit = kBurst / std::max<std::uint64_t>(busy, 1);
    out.window = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fit, window_least, kWindowMost));
    return out;
  }
};

}  // namespace pqcmav
