// SPDX-License-Identifier: Apache-2.0
#include "conversions.hpp"

#include <limits>
#include <optional>
#include <utility>

namespace pqc_mav_proxy_cpp {
namespace {

constexpr auto kUnknown = std::numeric_limits<float>::quiet_NaN();

float number(const std::optional<double>& value) { return value ? static_cast<float>(*value) : kUnknown; }
float ms(std::uint64_t ns) { return static_cast<float>(static_cast<double>(ns) / 1e6); }
std::uint32_t bytes(std::uint64_t size) { return static_cast<std::uint32_t>(size); }

std::uint8_t state_number(pqcmav::LinkState state) {
  using pqcmav::LinkState;
  switch (state) {
    case LinkState::down:
      return msg::TunnelStatus::DOWN;
    case LinkState::handshaking:
      return msg::TunnelStatus::HANDSHAKING;
    case LinkState::up:
      return msg::TunnelStatus::UP;
    case LinkState::degraded:
      return msg::TunnelStatus::DEGRADED;
    case LinkState::rekeying:
      return msg::TunnelStatus::REKEYING;
  }
  return msg::TunnelStatus::DOWN;
}

template <typename Message>
using Field = std::pair<std::string_view, std::uint64_t Message::*>;

/// What became of the datagrams that came: counters that a link and the whole process have alike.
template <typename Message>
void take_received(Message& out, const pqcmav::NamedCounters& counters) {
  static constexpr Field<Message> kCounters[] = {
      {"enc_rx_bytes", &Message::enc_rx_bytes},
      {"delivered", &Message::delivered},
      {"control", &Message::control},
      {"drop_malformed", &Message::drop_malformed},
      {"drop_unknown", &Message::drop_unknown},
      {"drop_seq_old", &Message::drop_seq_old},
      {"drop_replay", &Message::drop_replay},
      {"drop_auth_fail", &Message::drop_auth_fail},
      {"drop_decrypt_fail", &Message::drop_decrypt_fail},
  };
  for (const auto& [name, field] : kCounters) out.*field = counter(counters, name);
}

msg::LinkQuality link_message(const pqcmav::LinkQualityView& link, const pqcmav::LinkReport& view, const char* side,
                              const Header& header) {
  msg::LinkQuality out;
  out.header = header;
  out.drone_id = link.drone_id;
  out.side = side;
  out.packets_per_s = static_cast<float>(view.packets_per_s_milli / 1e3);
  out.gap_p95_ms = static_cast<float>(view.gap_p95_us / 1e3);
  out.longest_silence_ms = static_cast<float>(view.longest_silence_us / 1e3);
  out.jitter_ms = static_cast<float>(view.jitter_us / 1e3);
  out.loss = static_cast<float>(view.loss_ppm / 1e6);
  out.blackouts = view.blackouts;
  out.rtt_ms = number(link.rtt_ms);
  out.rtt_min_ms = number(link.rtt_min_ms);
  out.clock_offset_ms = number(link.clock_offset_ms);
  const auto dropped = [&](pqcmav::Drop reason) { return view.drops[static_cast<std::size_t>(reason)]; };
  out.drop_malformed = dropped(pqcmav::Drop::malformed);
  out.drop_unknown = dropped(pqcmav::Drop::unknown);
  out.drop_seq_old = dropped(pqcmav::Drop::seq_old);
  out.drop_replay = dropped(pqcmav::Drop::replay);
  out.drop_auth_fail = dropped(pqcmav::Drop::auth_fail);
  out.drop_decrypt_fail = dropped(pqcmav::Drop::decrypt_fail);
  return out;
}

}  // namespace

msg::TunnelStatus status_message(const pqcmav::LinkStatus& status, const std::string& role, const Header& header) {
  msg::TunnelStatus out;
  out.header = header;
  out.state = state_number(status.state);
  out.role = role;
  out.drone_id = status.drone_id;
  out.suite = status.suite;
  out.epoch = status.epoch;
  out.session_id = status.session_id;
  out.key_age_s = static_cast<float>(status.key_age_s);
  out.peer = status.peer;
  out.hybrid = status.hybrid;
  out.drone_signed = status.drone_signed;
  out.silence_s = static_cast<float>(status.silence_s);
  out.plain_local = status.plain_local;
  out.plain_peer = status.plain_peer;
  out.shape_kbit = status.shape_kbit;
  out.station = status.station;
  out.station_role = status.role;
  out.term = status.term;
  for (const auto& each : status.stations) out.stations.push_back(each.gcs_id + " " + each.role + " " + each.address);
  out.last_error = status.last_error;
  out.handshakes_ok = status.handshakes_ok;
  out.handshakes_failed = status.handshakes_failed;
  out.rekeys_ok = status.rekeys_ok;
  out.ratchets = status.ratchets;
  out.ratchet_for_s = static_cast<float>(status.ratchet_for_s);
  out.blacklisted_suites = status.blacklisted_suites;
  out.pinned_suite = status.pinned_suite;
  out.pin_for_s = static_cast<float>(status.pin_for_s);
  return out;
}

msg::TunnelStatus removed_message(const std::string& drone_id, const std::string& role, const Header& header) {
  msg::TunnelStatus out;
  out.header = header;
  out.state = msg::TunnelStatus::DOWN;
  out.role = role;
  out.drone_id = drone_id;
  out.last_error = "REMOVED: this ground station does not serve the drone any more.";
  return out;
}

msg::TunnelStats stats_message(const pqcmav::LinkStats& stats, const Rates& rates, const Header& header) {
  using Stats = msg::TunnelStats;
  static constexpr Field<Stats> kCounters[] = {
      {"plain_rx_packets", &Stats::plain_rx_packets},
      {"plain_rx_bytes", &Stats::plain_rx_bytes},
      {"plain_tx_packets", &Stats::plain_tx_packets},
      {"plain_tx_bytes", &Stats::plain_tx_bytes},
      {"plain_dropped_no_session", &Stats::plain_dropped_no_session},
      {"plain_dropped_no_peer", &Stats::plain_dropped_no_peer},
      {"plain_dropped_kernel", &Stats::plain_dropped_kernel},
      {"plain_dropped_too_big", &Stats::plain_dropped_too_big},
      {"plain_dropped_send", &Stats::plain_dropped_send},
      {"enc_tx_packets", &Stats::enc_tx_packets},
      {"enc_tx_bytes", &Stats::enc_tx_bytes},
      {"enc_rx_packets", &Stats::enc_rx_packets},
      {"window_skipped", &Stats::window_skipped},
      {"roams", &Stats::roams},
  };
  Stats out;
  out.header = header;
  out.drone_id = stats.drone_id;
  for (const auto& [name, field] : kCounters) out.*field = counter(stats.counters, name);
  take_received(out, stats.counters);
  out.window_depth = stats.window_depth;
  for (std::size_t i = 0; i < pqcmav::kShapeClasses; ++i) {
    out.shape_taken[i] = stats.shaping[i].taken;
    out.shape_sent[i] = stats.shaping[i].sent;
    out.shape_replaced[i] = stats.shaping[i].replaced;
    out.shape_dropped[i] = stats.shaping[i].dropped;
    out.shape_oldest_ms[i] = stats.shaping[i].oldest_ms;
  }
  out.seal_mean_ns = static_cast<float>(stats.seal_ns_avg);
  out.open_mean_ns = static_cast<float>(stats.open_ns_avg);
  out.tx_packets_per_s = static_cast<float>(rates.tx_packets);
  out.rx_packets_per_s = static_cast<float>(rates.rx_packets);
  out.tx_bytes_per_s = static_cast<float>(rates.tx_bytes);
  out.rx_bytes_per_s = static_cast<float>(rates.rx_bytes);
  return out;
}

msg::ServerStats server_message(const pqcmav::NamedCounters& totals, const std::vector<pqcmav::LinkStats>& stats,
                                const std::optional<pqcmav::RefusedShare>& refused, const Header& header) {
  using Stats = msg::ServerStats;
  static constexpr Field<Stats> kCounters[] = {
      {"enc_rx_datagrams", &Stats::enc_rx_datagrams},
      {"hs_taken", &Stats::hs_taken},
      {"hs_repeated", &Stats::hs_repeated},
      {"hs_malformed", &Stats::hs_malformed},
      {"hs_unknown", &Stats::hs_unknown},
      {"hs_tag", &Stats::hs_tag},
      {"hs_gate", &Stats::hs_gate},
      {"hs_replay", &Stats::hs_replay},
      {"hs_limit", &Stats::hs_limit},
      {"other_version", &Stats::other_version},
      {"doubled", &Stats::doubled},
      {"skipped", &Stats::skipped},
      {"skips", &Stats::skips},
      {"late", &Stats::late},
      {"drop_kernel", &Stats::drop_kernel},
      {"hs_gated", &Stats::hs_gated},
      {"hs_retried", &Stats::hs_retried},
      {"hs_completed", &Stats::hs_completed},
      {"hs_failed", &Stats::hs_failed},
  };
  Stats out;
  out.header = header;
  for (const auto& [name, field] : kCounters) out.*field = counter(totals, name);
  take_received(out, totals);
  if (refused) {
    out.refused_network = refused->network;
    out.refused_share = static_cast<float>(refused->share);
  }
  for (const auto& each : stats) {
    out.drone_ids.push_back(each.drone_id);
    out.opened.push_back(counter(each.counters, "delivered") + counter(each.counters, "control"));
  }
  return out;
}

std::vector<msg::LinkQuality> link_messages(const pqcmav::LinkQualityView& link, const Header& header) {
  std::vector<msg::LinkQuality> out{link_message(link, link.local, "local", header)};
  if (link.peer) {
    out.push_back(link_message(link, *link.peer, "peer", header));
    out.back().age_s = static_cast<float>(link.peer_age_s);
  }
  return out;
}

msg::HandshakeReport handshake_message(const std::string& drone_id, const pqcmav::HandshakeEvent& event,
                                       const Header& header) {
  const auto& times = event.times;
  msg::HandshakeReport out;
  out.header = header;
  out.drone_id = drone_id;
  out.ok = event.ok;
  out.error = std::string(to_string(event.error));
  out.reason = event.reason;
  out.suite = event.suite;
  out.hybrid = event.hybrid;
  out.epoch = event.epoch;
  out.rekey = event.kind != pqcmav::HandshakeKind::first;
  out.kind = std::string(to_string(event.kind));
  out.role = event.drone_side ? "drone" : "gcs";
  out.peer = event.peer;
  out.handshake_ms = ms(event.duration_ns);
  out.phase_hello_ms = ms(times.phases[0]);
  out.phase_server_hello_ms = ms(times.phases[1]);
  out.phase_finish_ms = ms(times.phases[2] + times.phases[3]);
  out.kem_keygen_ms = ms(times.kem_keygen);
  out.kem_encaps_ms = ms(times.kem_encaps);
  out.kem_decaps_ms = ms(times.kem_decaps);
  out.sig_sign_ms = ms(times.sig_sign);
  out.sig_verify_ms = ms(times.sig_verify);
  out.x25519_ms = ms(times.x25519);
  out.kdf_ms = ms(times.kdf);
  out.keygen_pooled = times.keygen_pooled;
  out.public_key_bytes = bytes(times.public_key);
  out.ciphertext_bytes = bytes(times.ciphertext);
  out.signature_bytes = bytes(times.signature);
  out.drone_signature_bytes = bytes(times.drone_signature);
  out.bytes_sent = bytes(times.bytes_sent);
  out.bytes_received = bytes(times.bytes_received);
  return out;
}

msg::SuiteInfo suite_message(const pqcmav::Suite& suite) {
  const auto& has = pqcmav::availability(suite);
  msg::SuiteInfo out;
  out.id = suite.id;
  out.short_code = suite.short_code;
  out.level = suite.level;
  out.core = suite.core;
  out.campaign_2025 = suite.campaign_2025;
  out.kem = std::string(suite.kem->display);
  out.sig = std::string(suite.sig->display);
  out.aead = std::string(suite.aead->display);
  out.kem_family = std::string(suite.kem->family);
  out.sig_family = std::string(suite.sig->family);
  out.public_key_bytes = bytes(suite.kem->public_key);
  out.ciphertext_bytes = bytes(suite.kem->ciphertext);
  out.signature_bytes = bytes(suite.sig->signature_max);
  out.available = has.available;
  out.reason = has.reason;
  return out;
}

}  // namespace pqc_mav_proxy_cpp
