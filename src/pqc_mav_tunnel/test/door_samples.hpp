// SPDX-License-Identifier: Apache-2.0
// An engine's pictures in which every field has a value of its own.
#pragma once

#include "picture/counters.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav::test {

inline LinkStatus sample_status() {
  LinkStatus out;
  out.drone_id = "uav1";
  out.state = LinkState::rekeying;
  out.suite = "cs-mlkem768-aesgcm-mldsa65";
  out.epoch = 3;
  out.session_id = "0123456789abcdef";
  out.key_age_s = 12.5;
  out.silence_s = 0.25;
  out.peer = "192.0.2.1:46011";
  out.plain_local = "127.0.0.1:14550";
  out.plain_peer = "127.0.0.1:14551";
  out.last_error = "KEY_OLD: \xff is no UTF-8.";
  out.hybrid = out.compact = out.key_old = true;
  out.ratchets = 2;
  out.ratchet_for_s = 30.125;
  out.shape_kbit = 64;
  out.handshakes_ok = 1;
  out.handshakes_failed = 4;
  out.rekeys_ok = 5;
  out.station = "north";
  out.role = "active";
  out.term = 6;
  out.stations = {{"north", "192.0.2.1:46011", "active"}, {"south", "192.0.2.2:46011", "standby"}};
  out.blacklisted_suites = {"cs-mlkem512-aesgcm-falcon512"};
  out.pinned_suite = "cs-mlkem1024-aesgcm-mldsa87";
  out.pin_for_s = 600;
  out.peer_alarm = {2, "forgery"};
  return out;
}

/// Version 1 shows the counters that it knows as 1, 2 and so on.
inline LinkStats sample_stats() {
  LinkStats out{"uav1", {}, 1.5, 2.5, {}, {}, {}, {}};
  std::uint64_t value = 0;
  for (const auto& row : link_counters())
    out.counters.emplace_back(row.field.name, (row.field.in & kInDoor) != 0 ? ++value : 1'000);
  for (std::size_t i = 0; i < kDepthClasses; ++i) out.window_depth[i] = 40 + i;
  for (std::size_t i = 0; i < kShapeClasses; ++i)
    out.shaping[i] = {60 + i, 70 + i, 80 + i, 90 + i, static_cast<std::uint32_t>(100 + i)};
  out.endpoints.push_back({"udp:14550", "open", true, {{"rx_packets", 110}, {"dropped", 111}}});
  return out;
}

inline LinkReport sample_report(std::uint32_t from) {
  return {5000, from + 1, from + 2, from + 3, from + 4, from + 5, from + 6, {11, 12, 13, 14, 15, 16}};
}

inline LinkQualityView sample_link() {
  LinkQualityView out;
  out.drone_id = "uav1";
  out.local = sample_report(100);
  out.peer = sample_report(200);
  out.peer_age_s = 0.5;
  out.rtt_ms = 1.5;
  out.rtt_min_ms = 1.25;
  return out;
}

inline Event sample_handshake() {
  HandshakeEvent out;
  out.error = HandshakeError::timeout;
  out.reason = "Nothing more came.";
  out.suite = "cs-mlkem768-aesgcm-mldsa65";
  out.hybrid = out.drone_side = true;
  out.kind = HandshakeKind::ratchet;
  out.epoch = 9;
  out.peer = "192.0.2.1:46011";
  out.duration_ns = 1'500'000;
  out.times = {1'000'000, 2'000'000, 3'000'000, 4'000'000, 5'000'000,
               6'000'000, 7'000'000, true,      20,        21,
               22,        23,        24,        25,        {30'000'000, 31'000'000, 32'000'000, 33'000'000}};
  return {1, "uav1", out};
}

}  // namespace pqcmav::test
