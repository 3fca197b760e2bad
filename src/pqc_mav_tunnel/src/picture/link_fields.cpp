// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "picture/fields.hpp"

namespace pqcmav {
namespace {

constexpr auto kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Unknown at a path that never answered.
template <auto Member>
constexpr auto answered(std::string_view text) {
  return figure<PathStatus,
                [](const PathStatus& path) { return path.*Member ? Json(*(path.*Member)) : Json(nullptr); }>(
             name_of<Member>(), text)
      .typed("float32");
}

using Way = PathStatus;
constexpr std::array kPath{
    row<&Way::drone_id>("the drone whose path this is"),
    row<&Way::name>("its name in the parameter `paths`"),
    row<&Way::via>("the interface, own address or serial radio that it goes by; \"\": the system's routes"),
    row<&Way::state>("\"best\": in use, \"good\": answers, \"dead\": does not, \"unknown\": not tried yet, or \"off\""),
    row<&Way::silence_s>("time since its last answer, while it owes one [s]; 0 otherwise"),
    answered<&Way::rtt_ms>("round-trip time of its probes, smoothed [ms]"),
    answered<&Way::loss>("share of its probes without an answer (0-1)"),
    row<&Way::tx_packets>("encrypted datagrams sent by it [count]"),
    row<&Way::tx_bytes>("bytes of these [B]"),
    row<&Way::rx_packets>("authenticated datagrams that came by it [count]"),
    row<&Way::rx_bytes>("bytes of these [B]"),
    row<&Way::taken>("times that packets began to take it [count]"),
    row<&Way::problem>("why it cannot be used now, as one sentence; \"\": nothing known"),
};

using A = LinkStatus;
constexpr std::array kStatus{
    row<&A::drone_id>("the drone this tunnel belongs to: 1-32 characters of a-z, 0-9, \"_\", \"-\""),
    figure<A, [](const A& a) { return to_string(a.state); }>("state_name", "the state in a word")
        .at_door("state")
        .only(kNoMessage),
    figure<A, [](const A& a) { return static_cast<std::uint8_t>(a.state); }>(
        "state", "0 DOWN, 1 HANDSHAKING, 2 UP, 3 DEGRADED, 4 REKEYING")
        .only(kNotInDoor),
    figure<A, [](const A& a) { return a.drone_side ? "drone" : "gcs"; }>("role",
                                                                         "which end this is: \"drone\" or \"gcs\"")
        .only(kNotInDoor),
    row<&A::suite>("suite in use, e.g. \"cs-mlkem768-aesgcm-mldsa65\"; \"\" without a session"),
    row<&A::epoch>("rekeys since the session's first handshake (0-255)"),
    row<&A::session_id>("public identifier of the session, 16 hexadecimal digits; \"\" without a session"),
    row<&A::key_age_s>("age of the keys in use [s]; 0 without a session"),
    row<&A::silence_s>("time since the last authenticated packet from the peer [s]"),
    row<&A::peer>("address of the other end of the encrypted link, \"host:port\"; \"\" while unknown"),
    row<&A::plain_local>("local plaintext socket, \"host:port\""),
    row<&A::plain_peer>("where plaintext is delivered to, \"host:port\"; \"\" while unknown"),
    row<&A::last_error>("the last failure as one sentence; \"\" when there was none"),
    row<&A::hybrid>("true: X25519 combined with the post-quantum key exchange"),
    row<&A::drone_signed>("true: the drone signed its part of the handshake"),
    row<&A::compact>("true: both ends may send compact headers").only(kNoMessage),
    row<&A::ratchets>("ratchets since the last full handshake (0-8)"),
    row<&A::ratchet_for_s>(
        "for how long ratchets may still renew the keys [s]; 0 = not now, only a full handshake may"),
    row<&A::key_old>("true: the last full handshake is longer ago than key_limit_s"),
    row<&A::shape_kbit>("rate to which what leaves this end is shaped now [kbit/s]; 0 = not shaped"),
    row<&A::station>("gcs_id of the one that the drone hears; on a gcs its own"),
    row<&A::role>("what that station is for the drone: \"active\", or \"standby\"", "station_role"),
    row<&A::term>("rises by 1 with each change of station; of two that both say to be active the higher one is right"),
    figure<A,
           [](const A& a) {
             Json out = Json::array();
             for (const auto& each : a.stations) out.push_back(each.gcs_id + " " + each.role + " " + each.address);
             return out;
           }>("stations",
              "on the drone, in the order of its `peer`: \"<gcs_id> <active, standby or none> <host:port>\"")
        .typed("string[]"),
    figure<A,
           [](const A& a) {
             Json out = Json::array();
             for (const auto& each : a.paths) project(out.emplace_back(), kPath, each, kInDoor);
             return out;
           }>("paths", "on a drone with several, in order of preference, as in `~/paths`")
        .typed("object[]")
        .only(kNoMessage),
    row<&A::handshakes_ok>("first handshakes completed since start [count]"),
    row<&A::handshakes_failed>("handshakes failed since start, rekeys included [count]"),
    row<&A::rekeys_ok>("rekeys completed since start, ratchets included [count]"),
    row<&A::blacklisted_suites>(
        "suites whose handshake failed recently, which automatic choices avoid; always empty on a gcs"),
    row<&A::pinned_suite>("on the drone: the suite that an operator asked for and that its policy keeps; \"\" = none"),
    row<&A::pin_for_s>("for how long yet [s]"),
    figure<A, [](const A& a) { return a.peer_alarm.level; }>(
        "peer_alarm",
        "of the other end's detector, and at a drone of those on its network: 0 none, 1 suspicious, 2 attack"),
    figure<A, [](const A& a) { return a.peer_alarm.kind; }>("peer_alarm_kind",
                                                            "its kind, as in ThreatReport; \"\" = none"),
};

template <auto Member>
constexpr auto by_class(std::string_view name, std::string_view text) {
  return figure<LinkStats, [](const LinkStats& stats) {
    Json out = Json::array();
    for (const auto& each : stats.shaping) out.push_back(each.*Member);
    return out;
  }>(name, text);
}

constexpr std::array kStatsHead{row<&LinkStats::drone_id>("the drone this tunnel belongs to")};
constexpr std::array kStats{
    row<&LinkStats::window_depth>("opened behind the newest, by places: 1, 2-3, 4-7 and so on to 4096-8191 [count]")
        .typed("uint64[13]"),
    by_class<&ShapeCount::taken>("shape_taken", "datagrams that came, with those of the tunnel itself [count]")
        .typed("uint64[5]"),
    by_class<&ShapeCount::sent>("shape_sent", "datagrams that left [count]").typed("uint64[5]"),
    by_class<&ShapeCount::replaced>("shape_replaced", "gave way to a newer value of the same stream [count]")
        .typed("uint64[5]"),
    by_class<&ShapeCount::dropped>("shape_dropped",
                                   "dropped because the queue was full, they were too old or the session ended [count]")
        .typed("uint64[5]"),
    by_class<&ShapeCount::oldest_ms>("shape_oldest_ms", "how long the oldest one has been waiting [ms]")
        .typed("uint32[5]"),
    figure<LinkStats,
           [](const LinkStats& stats) {
             Json out = Json::array();
             for (const auto& endpoint : stats.endpoints) {
               Json each = {{"name", endpoint.name},
                            {"state", endpoint.state},
                            {"good", endpoint.good},
                            {"text", endpoint.text()}};
               project(each, endpoint.counters);
               out.push_back(std::move(each));
             }
             return out;
           }>("endpoints", "places of plaintext: name, state, good, text, and their counters")
        .typed("object[]")
        .only(kNoMessage),
    row<&LinkStats::seal_ns_avg>("time to encrypt one packet, sampled mean [ns]", "seal_mean_ns"),
    row<&LinkStats::open_ns_avg>("time to decrypt one packet, sampled mean [ns]", "open_mean_ns"),
};

constexpr std::array kRates{
    row<&LinkRates::tx_packets_per_s>("encrypted datagrams sent during the last second [1/s]"),
    row<&LinkRates::tx_bytes_per_s>("encrypted bytes sent during the last second [B/s]"),
    row<&LinkRates::rx_packets_per_s>("encrypted datagrams received during the last second [1/s]"),
    row<&LinkRates::rx_bytes_per_s>("encrypted bytes received during the last second [B/s]"),
};

/// In a wider unit than the report's.
template <auto Member, int Divisor>
constexpr auto scaled(std::string_view name, std::string_view text) {
  return figure<LinkReport, [](const LinkReport& report) { return report.*Member / double{Divisor}; }>(name, text);
}

using R = LinkReport;
constexpr auto kReport = [] {
  auto out = joined(
      std::array{
          scaled<&R::window_ms, 1000>("window_s", "length of the window [s]").only(kInDoor),
          scaled<&R::packets_per_s_milli, 1000>("packets_per_s", "authenticated packets received [1/s]"),
          scaled<&R::gap_p95_us, 1000>("gap_p95_ms", "95th percentile of the time between two packets [ms]"),
          scaled<&R::longest_silence_us, 1000>("longest_silence_ms", "longest time between two packets [ms]"),
          scaled<&R::jitter_us, 1000>("jitter_ms", "mean deviation of the time between two packets [ms]"),
          scaled<&R::loss_ppm, 1'000'000>("loss", "packets missing in the sequence as a fraction of those sent (0-1)"),
          row<&R::blackouts>("silences in the window long enough to count as an outage [count]"),
      },
      drop_rows<&R::drops>());
  constexpr std::array<std::string_view, kDropKinds> groups{"drops.malformed", "drops.unknown",   "drops.seq_old",
                                                            "drops.replay",    "drops.auth_fail", "drops.decrypt_fail"};
  for (std::size_t i = 0; i < kDropKinds; ++i) out[out.size() - kDropKinds + i].field.door = groups[i];
  return out;
}();

template <auto Member>
constexpr auto perhaps(std::string_view name, std::string_view text) {
  return figure<LinkQualityView, [](const LinkQualityView& link) { return (link.*Member).value_or(kUnknown); }>(name,
                                                                                                                text);
}

constexpr std::array kLink{
    row<&LinkQualityView::drone_id>("the drone this link belongs to").only(kNotInDoor),
    perhaps<&LinkQualityView::rtt_ms>("rtt_ms", "newest round-trip time of a probe [ms]"),
    perhaps<&LinkQualityView::rtt_min_ms>("rtt_min_ms", "smallest round-trip time of a probe in this session [ms]"),
    perhaps<&LinkQualityView::clock_offset_ms>("clock_offset_ms",
                                               "peer's clock minus this end's clock, from the probes [ms]"),
};

/// Unknown without a radio, and where the radio has said nothing.
template <auto Member>
constexpr auto signal(std::string_view name, std::string_view door, std::string_view text) {
  return figure<LinkQualityView,
                [](const LinkQualityView& link) {
                  return link.radio ? std::optional<double>((*link.radio).*Member).value_or(kUnknown) : kUnknown;
                }>(name, text)
      .at_door(door);
}

template <auto Member>
constexpr auto frames(std::string_view name, std::string_view door, std::string_view text) {
  return figure<LinkQualityView,
                [](const LinkQualityView& link) { return link.radio ? (*link.radio).*Member : std::uint64_t{0}; }>(name,
                                                                                                                   text)
      .at_door(door);
}

using Q = RadioQuality;
constexpr std::array kRadio{
    signal<&Q::kbit>("radio_kbit", "kbit", "rate that the serial radio here takes [kbit/s]; NaN: no radio"),
    signal<&Q::rssi>("radio_rssi", "rssi", "signal here, in the radio's counts [count]"),
    signal<&Q::remote_rssi>("radio_remote_rssi", "remote_rssi", "the same at the other radio [count]"),
    signal<&Q::noise>("radio_noise", "noise", "noise here, in the radio's counts [count]"),
    signal<&Q::remote_noise>("radio_remote_noise", "remote_noise", "the same at the other radio [count]"),
    signal<&Q::fill>("radio_fill", "fill", "how full the radio's buffer is (0-1)"),
    frames<&Q::line_errors>("radio_line_errors", "line_errors", "frames that the air damaged [count]"),
    frames<&Q::not_mine>("radio_not_mine", "not_mine", "frames of other drones, and own ones that came back [count]"),
    frames<&Q::dropped>("radio_dropped", "dropped",
                        "datagrams that waited too long for the radio, or found no room [count]"),
    frames<&Q::stuck>("radio_stuck", "stuck", "times the radio took nothing for a second [count]"),
};

constexpr std::array kSide{
    figure<LinkSide, [](const LinkSide& side) { return side.of_peer ? "peer" : "local"; }>(
        "side", "\"local\": what this end receives; \"peer\": what the other end reported in-band"),
    figure<LinkSide, [](const LinkSide& side) { return side.of_peer ? side.link->peer_age_s : 0.0; }>(
        "age_s", "age of these figures when published [s]; 0 for side \"local\""),
};

constexpr std::array kServer{
    figure<ServerView, [](const ServerView& view) { return view.refused.value_or(RefusedShare{}).network; }>(
        "refused_network",
        "network with the largest share of what was refused in the last second or two; empty = none stands out"),
    figure<ServerView, [](const ServerView& view) { return view.refused.value_or(RefusedShare{}).share; }>(
        "refused_share", "that share, at least [fraction]; a stranger's address may be forged"),
    row<&ServerView::drone_ids>("the drones of this process"),
    row<&ServerView::opened>("of each of them: packets that verified, delivered + control [count]"),
};

}  // namespace

std::span<const Row<PathStatus>> path_rows() noexcept { return kPath; }
std::span<const Row<LinkStatus>> status_rows() noexcept { return kStatus; }
std::span<const Row<LinkStats>> stats_head_rows() noexcept { return kStatsHead; }
std::span<const Row<LinkStats>> stats_rows() noexcept { return kStats; }
std::span<const Row<LinkRates>> rate_rows() noexcept { return kRates; }
std::span<const Row<LinkReport>> report_rows() noexcept { return kReport; }
std::span<const Row<LinkQualityView>> link_rows() noexcept { return kLink; }
std::span<const Row<LinkQualityView>> radio_rows() noexcept { return kRadio; }
std::span<const Row<LinkSide>> side_rows() noexcept { return kSide; }
std::span<const Row<ServerView>> server_rows() noexcept { return kServer; }

}  // namespace pqcmav
