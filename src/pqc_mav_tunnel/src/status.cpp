// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

std::string_view to_string(LinkState state) noexcept {
  switch (state) {
    case LinkState::down:
      return "DOWN";
    case LinkState::handshaking:
      return "HANDSHAKING";
    case LinkState::up:
      return "UP";
    case LinkState::degraded:
      return "DEGRADED";
    case LinkState::rekeying:
      return "REKEYING";
  }
  return "?";
}

std::string EndpointStatus::text() const {
  auto out = state;
  for (const auto& [counter, value] : counters) out += ", " + std::string(counter) + " " + std::to_string(value);
  return out;
}

std::span<const WatchedCounter> watched_of_link() noexcept {
  static constexpr WatchedCounter kCounters[] = {
      {"drop_auth_fail", "packets that failed authentication"},
      {"drop_replay", "replayed packets"},
      {"drop_malformed", "malformed packets"},
      {"drop_decrypt_fail", "packets with unusable content"},
      {"plain_dropped_too_big", "plaintext packets above the path limit"},
      {"plain_dropped_no_session", "plaintext packets without a session to carry them"},
      {"plain_dropped_kernel", "plaintext packets that the kernel had no room for"},
  };
  return kCounters;
}

std::span<const WatchedCounter> watched_of_server() noexcept {
  // A datagram of an attempt that is no more (hs_unknown) may be a late copy of an honest one: it is not among them.
  static constexpr WatchedCounter kCounters[] = {
      {"hs_tag", "handshake datagrams without a valid pre-shared key"},
      {"hs_gate", "hellos without a valid pre-shared key or for another gcs"},
      {"hs_replay", "replayed hellos"},
      {"hs_malformed", "malformed handshake datagrams"},
      {"hs_limit", "handshake datagrams from too many addresses"},
      {"other_version", "datagrams of an older protocol version"},
  };
  return kCounters;
}

std::span<const WatchedCounter> watched_of_socket() noexcept {
  static constexpr WatchedCounter kCounters[] = {
      {"drop_kernel", "times that the kernel had no room for datagrams of the tunnel"},
  };
  return kCounters;
}

}  // namespace pqcmav
