// SPDX-License-Identifier: Apache-2.0
#include "console/views.hpp"

#include <array>
#include <chrono>
#include <optional>

#include "clock.hpp"

namespace pqcmav {
namespace {

double view_ms(std::uint64_t ns) { return static_cast<double>(ns) / 1e6; }

Json view_of_report(const LinkReport& report) {
  static constexpr std::array<const char*, kDropKinds> names = {"malformed", "unknown",   "seq_old",
                                                                "replay",    "auth_fail", "decrypt_fail"};
  Json drops;
  for (std::size_t i = 0; i < kDropKinds; ++i) drops[names[i]] = report.drops[i];
  return {{"window_s", report.window_ms / 1e3},    {"packets_per_s", report.packets_per_s_milli / 1e3},
          {"gap_p95_ms", report.gap_p95_us / 1e3}, {"longest_silence_ms", report.longest_silence_us / 1e3},
          {"jitter_ms", report.jitter_us / 1e3},   {"loss", report.loss_ppm / 1e6},
          {"blackouts", report.blackouts},         {"drops", drops}};
}

Json view_of_optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json view_of_times(const HandshakeTimes& times) {
  return {{"phases_ms",
           {{"hello", view_ms(times.phases[0])},
            {"server_hello", view_ms(times.phases[1])},
            {"finish", view_ms(times.phases[2])},
            {"server_finish", view_ms(times.phases[3])}}},
          {"primitives_ms",
           {{"kem_keygen", view_ms(times.kem_keygen)},
            {"kem_encaps", view_ms(times.kem_encaps)},
            {"kem_decaps", view_ms(times.kem_decaps)},
            {"sig_sign", view_ms(times.sig_sign)},
            {"sig_verify", view_ms(times.sig_verify)},
            {"x25519", view_ms(times.x25519)},
            {"kdf", view_ms(times.kdf)}}},
          {"sizes",
           {{"public_key", times.public_key},
            {"ciphertext", times.ciphertext},
            {"signature", times.signature},
            {"drone_signature", times.drone_signature},
            {"bytes_sent", times.bytes_sent},
            {"bytes_received", times.bytes_received}}},
          {"keygen_pooled", times.keygen_pooled}};
}

void describe_event(Json& out, const StateEvent& event) {
  out["event"] = "state";
  out["old"] = to_string(event.before);
  out["new"] = to_string(event.after);
  out["reason"] = event.reason;
}

void describe_event(Json& out, const LogEvent& event) {
  out["event"] = "log";
  out["level"] = to_string(event.level);
  out["text"] = event.text;
}

void describe_event(Json& out, const HandshakeEvent& event) {
  out["event"] = "handshake";
  out["ok"] = event.ok;
  out["error"] = to_string(event.error);
  out["reason"] = event.reason;
  out["suite"] = event.suite;
  out["hybrid"] = event.hybrid;
  out["epoch"] = event.epoch;
  out["rekey"] = event.kind != HandshakeKind::first;
  out["kind"] = to_string(event.kind);
  out["role"] = event.drone_side ? "drone" : "gcs";
  out["peer"] = event.peer;
  out["handshake_ms"] = view_ms(event.duration_ns);
  out.update(view_of_times(event.times));
}

}  // namespace

Json view_of(const LinkStatus& s) {
  Json stations = Json::array();
  for (const auto& each : s.stations) stations.push_back(each.gcs_id + " " + each.role + " " + each.address);
  return {{"drone_id", s.drone_id},
          {"state", to_string(s.state)},
          {"suite", s.suite},
          {"epoch", s.epoch},
          {"session_id", s.session_id},
          {"key_age_s", s.key_age_s},
          {"silence_s", s.silence_s},
          {"peer", s.peer},
          {"plain_local", s.plain_local},
          {"plain_peer", s.plain_peer},
          {"last_error", s.last_error},
          {"hybrid", s.hybrid},
          {"drone_signed", s.drone_signed},
          {"compact", s.compact},
          {"ratchets", s.ratchets},
          {"ratchet_for_s", s.ratchet_for_s},
          {"key_old", s.key_old},
          {"shape_kbit", s.shape_kbit},
          {"station", s.station},
          {"station_role", s.role},
          {"term", s.term},
          {"stations", std::move(stations)},
          {"handshakes_ok", s.handshakes_ok},
          {"handshakes_failed", s.handshakes_failed},
          {"rekeys_ok", s.rekeys_ok},
          {"blacklisted_suites", s.blacklisted_suites},
          {"pinned_suite", s.pinned_suite},
          {"pin_for_s", s.pin_for_s}};
}

Json view_of(const NamedCounters& counters) {
  Json out = Json::object();
  for (const auto& [name, value] : counters) out[std::string(name)] = value;
  return out;
}

Json view_of(const HandshakeTally& tally) {
  Json out = {{"le_ms", kHandshakeBuckets}};
  for (std::size_t i = 0; i < kHandshakeKinds; ++i) {
    const auto kind = static_cast<HandshakeKind>(i);
    const auto& one = tally.of(kind);
    Json failed = Json::object();
    // Those that never were, too: a program that watches for the first one must have seen 0 before.
    for (std::size_t error = 1; error < kHandshakeErrors; ++error)
      failed[std::string(to_string(static_cast<HandshakeError>(error)))] = one.failed[error];
    out[std::string(to_string(kind))] = {
        {"counts", one.counts}, {"sum_ms", view_ms(one.sum_ns)}, {"failed", std::move(failed)}};
  }
  return out;
}

Json view_of(const LinkStats& stats) {
  Json out = {{"drone_id", stats.drone_id}};
  out.update(view_of(stats.counters));
  out["window_depth"] = stats.window_depth;
  // A list by class for each counter.
  for (const auto& count : stats.shaping) {
    out["shape_taken"].push_back(count.taken);
    out["shape_sent"].push_back(count.sent);
    out["shape_replaced"].push_back(count.replaced);
    out["shape_dropped"].push_back(count.dropped);
    out["shape_oldest_ms"].push_back(count.oldest_ms);
  }
  out["endpoints"] = Json::array();
  for (const auto& endpoint : stats.endpoints) {
    Json each = {
        {"name", endpoint.name}, {"state", endpoint.state}, {"good", endpoint.good}, {"text", endpoint.text()}};
    each.update(view_of(endpoint.counters));
    out["endpoints"].push_back(std::move(each));
  }
  out["seal_mean_ns"] = stats.seal_ns_avg;
  out["open_mean_ns"] = stats.open_ns_avg;
  return out;
}

Json view_of(const LinkQualityView& link) {
  return {{"drone_id", link.drone_id},
          {"local", view_of_report(link.local)},
          {"peer", link.peer ? view_of_report(*link.peer) : Json(nullptr)},
          {"age_s", link.peer ? Json(link.peer_age_s) : Json(nullptr)},
          {"rtt_ms", view_of_optional(link.rtt_ms)},
          {"rtt_min_ms", view_of_optional(link.rtt_min_ms)},
          {"clock_offset_ms", view_of_optional(link.clock_offset_ms)}};
}

Json view_of(const Suite& suite) {
  const auto& have = availability(suite);
  return {{"id", suite.id},
          {"short_code", suite.short_code},
          {"kem", suite.kem->display},
          {"sig", suite.sig->display},
          {"aead", suite.aead->display},
          {"level", suite.level},
          {"core", suite.core},
          {"available", have.available},
          {"reason", have.reason}};
}

Json view_of(const DroneChanges& changes) {
  return {{"added", changes.added},
          {"removed", changes.removed},
          {"changed", changes.changed},
          {"restart", changes.restart},
          {"kept", changes.kept}};
}

Json view_of(const KeyChanges& changes) {
  return {{"renewed", changes.renewed}, {"removed", changes.removed}, {"signing", changes.signing}};
}

Json view_of(const Event& event, double time) {
  Json out;
  std::visit([&](const auto& what) { describe_event(out, what); }, event.what);
  out["drone_id"] = event.drone_id;
  out["time"] = time;
  return out;
}

std::string line_of(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

double system_time_of(std::uint64_t monotonic_ns) {
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return now - static_cast<double>(now_ns() - monotonic_ns) / 1e9;
}

}  // namespace pqcmav
