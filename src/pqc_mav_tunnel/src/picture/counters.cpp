// SPDX-License-Identifier: Apache-2.0
#include "picture/counters.hpp"

#include <algorithm>
#include <vector>

namespace pqcmav {
namespace {

// Ranks of what is worth a warning: of a tunnel, of a ground station's handshakes, of the socket, of snapshots.
constexpr std::uint8_t kServerRank = 10, kSocketRank = 20, kSnapshotRank = 30;

using L = LinkCounters;
constexpr auto kLinkCounters = joined(
    std::array{
        row<&L::plain_rx_packets>("datagrams received from the local application [count]"),
        row<&L::plain_rx_bytes>("the same in bytes [B]"),
        row<&L::plain_tx_packets>("datagrams sent to the local application [count]"),
        row<&L::plain_tx_bytes>("the same in bytes [B]"),
        row<&L::plain_dropped_no_session>("from the application, dropped because there was no session [count]")
            .warns(6, "plaintext packets without a session to carry them"),
        row<&L::plain_dropped_no_peer>("for the application, dropped because none is known yet [count]"),
        row<&L::plain_dropped_too_big>("from the application, dropped because above the path limit [count]")
            .warns(5, "plaintext packets above the path limit"),
        row<&L::plain_dropped_kernel>("from the application, dropped by the kernel's full buffer [count]")
            .warns(7, "plaintext packets that the kernel had no room for"),
        row<&L::plain_dropped_send>("for the application, not sent because the operating system refused [count]"),
        row<&L::plain_dropped_yield>(
            "from the application, left out for a rekey, or by a path for commands alone [count]")
            .only(kNotInDoor),
        row<&L::plain_tap_packets>("copies for plain_tap [count]").only(kNoMessage),
        row<&L::plain_tap_dropped>("copies for plain_tap that the operating system refused [count]").only(kNoMessage),
        row<&L::plain_tap_requests>("requests of the program at plain_tap that were passed on [count]")
            .only(kNoMessage),
        row<&L::plain_tap_refused>("requests of the program at plain_tap that were refused [count]").only(kNoMessage),
        row<&L::enc_tx_packets>("encrypted datagrams sent [count]"),
        row<&L::enc_tx_bytes>("the same in bytes [B]"),
        row<&L::enc_dropped_send>("encrypted datagrams that the operating system refused to send [count]")
            .only(kNoMessage),
        row<&L::enc_rx_packets>("encrypted datagrams received that belong to this tunnel [count]"),
        row<&L::enc_rx_bytes>("the same in bytes [B]"),
        row<&L::delivered>("of these: opened and handed to the application [count]"),
        row<&L::delivered_datagrams>("datagrams in those packets: several each, if bundled [count]").only(kNoMessage),
        row<&L::control>("of these: opened control frames [count]"),
    },
    drop_rows<&L::drops>(),
    std::array{
        row<&L::window_skipped>("packets that a newer one overtook: lost, or late and then in window_depth [count]"),
        row<&L::roams>("changes of the peer's address, each proved by an authenticated packet [count]"),
    });

using P = ProcessCounters;
template <HandshakeDrop what>
constexpr auto handshakes(std::string_view name, std::string_view text) {
  return row_in<&P::handshakes, what>(name, text);
}
constexpr std::array kHandshakeCounters{
    handshakes<HandshakeDrop::taken>("hs_taken", "handshake datagrams that said something new [count]"),
    handshakes<HandshakeDrop::repeated>("hs_repeated",
                                        "handshake datagrams that verified and said nothing new [count]"),
    handshakes<HandshakeDrop::malformed>("hs_malformed", "malformed handshake datagrams [count]")
        .warns(kServerRank + 4, "malformed handshake datagrams"),
    // These may be late copies of honest ones: no warning.
    handshakes<HandshakeDrop::unknown>("hs_unknown", "handshake datagrams of no attempt that is known [count]"),
    handshakes<HandshakeDrop::tag>("hs_tag", "handshake datagrams whose tag did not verify [count]")
        .warns(kServerRank + 1, "handshake datagrams without a valid pre-shared key"),
    handshakes<HandshakeDrop::gate>("hs_gate", "hellos without a valid gate, or for another gcs [count]")
        .warns(kServerRank + 2, "hellos without a valid pre-shared key or for another gcs"),
    handshakes<HandshakeDrop::replay>("hs_replay", "hellos of an attempt that has ended [count]")
        .warns(kServerRank + 3, "replayed hellos"),
    handshakes<HandshakeDrop::limit>("hs_limit",
                                     "handshake datagrams beyond a limit, or hellos answered with Retry [count]")
        .warns(kServerRank + 5, "handshake datagrams from too many addresses"),
};
static_assert(kHandshakeCounters.size() == kHandshakeDropKinds);

constexpr auto kProcessCounters = joined(
    std::array{
        row<&P::enc_rx_datagrams>("datagrams received on the data port [count]"),
        row<&P::enc_rx_bytes>("the same in bytes of UDP payload [B]"),
        row<&P::delivered>("opened and handed to the application [count]"),
        row<&P::delivered_datagrams>("datagrams in those packets: several each, if bundled [count]").only(kNoMessage),
        row<&P::control>("opened control frames [count]"),
    },
    drop_rows<&P::drops>(), kHandshakeCounters,
    std::array{
        row<&P::other_version>("of drop_malformed: packets of an older protocol [count]")
            .warns(kServerRank + 6, "datagrams of an older protocol version"),
        row<&P::doubled>("of drop_replay: packets that came the first time in the last 0.1-0.2 s [count]"),
        row<&P::skipped>("packets that had not come when a later one of their key did [count]"),
        row<&P::skips>("how often that was so; skipped / skips is how many are missing in a row [count]"),
        row<&P::late>("of skipped: those that came after all [count]"),
        row<&P::kernel>("besides all of these: dropped by the kernel because its buffer was full; a run that came "
                        "together counts as one [count]",
                        "drop_kernel")
            .warns(kSocketRank + 1, "times that the kernel had no room for datagrams of the tunnel"),
        row<&P::yielded>("datagrams of the applications left out for a rekey, or by a path for commands alone [count]",
                         "drop_yield")
            .only(kNoMessage),
        row<&P::standby>("on a drone: data of a ground station that is not the active one [count]", "drop_standby")
            .only(kNoMessage),
        row<&P::copies>("packets that came before: by another path of the drone, or again, as planned [count]",
                        "drop_copy")
            .only(kNoMessage),
        row<&P::overtaken>("packets that may be old: long after later ones, or after a silence [count]", "drop_late")
            .only(kNoMessage)
            .warns(kServerRank + 7, "packets that may be old: long after later ones, or after a silence"),
        row<&P::used_twice>("sessions that ended because the peer used the number of a packet twice [count]")
            .only(kNoMessage)
            .warns(kSnapshotRank + 2, "sessions ended because the other end used the number of a packet twice"),
        row<&P::set_back>("times that this machine was set back to a snapshot, or copied [count]")
            .only(kNoMessage)
            .warns(kSnapshotRank + 1, "times that this machine was set back to a snapshot, or copied"),
    });

using S = ServerCounters;
constexpr std::array kServerCounters{
    row<&S::gated>("hellos whose gate verified; 0 on a drone [count]", "hs_gated"),
    row<&S::retried>("hellos answered with Retry; 0 on a drone [count]", "hs_retried"),
    row<&S::completed>("handshakes completed by the gcs; 0 on a drone [count]", "hs_completed"),
    row<&S::ratchets>("of these: ratchets [count]", "hs_ratchets").only(kNoMessage),
    row<&S::failed>("handshakes failed at the gcs; 0 on a drone [count]", "hs_failed"),
    row<&S::busy>("attempts and fragments that found no place [count]", "hs_busy").only(kNoMessage),
    row<&S::restarts>("drones that were told that this gcs has started anew [count]", "restarts_told").only(kNoMessage),
    row<&S::keygens>("KEM key pairs made [count]").only(kNoMessage),
};

using Passed = RelayCounters;
constexpr std::array kRelayCounters{
    row<&Passed::up>("datagrams of other drones passed on to the gcs [count]", "relay_up").only(kNoMessage),
    row<&Passed::up_bytes>("the same in bytes [B]", "relay_up_bytes").only(kNoMessage),
    row<&Passed::down>("datagrams of the gcs passed on to other drones [count]", "relay_down").only(kNoMessage),
    row<&Passed::down_bytes>("the same in bytes [B]", "relay_down_bytes").only(kNoMessage),
    row<&Passed::refused>("not passed on: of a stranger, of no tunnel, of too many drones or in a circle [count]",
                          "relay_refused")
        .only(kNoMessage),
    row<&Passed::dropped>("not passed on: above relay_kbit, or this drone had no way to the gcs itself [count]",
                          "relay_dropped")
        .only(kNoMessage),
};

/// Those of a rank between two, in its order.
template <typename Rows>
std::vector<WatchedCounter> watched(const Rows& rows, std::uint8_t above, std::uint8_t below) {
  std::vector<Field> found;
  for (const auto& row : rows)
    if (row.field.rank > above && row.field.rank < below) found.push_back(row.field);
  std::ranges::sort(found, {}, &Field::rank);
  std::vector<WatchedCounter> out;
  for (const auto& field : found) out.push_back({field.name, field.meaning});
  return out;
}

}  // namespace

std::span<const Row<LinkCounters>> link_counters() noexcept { return kLinkCounters; }
std::span<const Row<ProcessCounters>> process_counters() noexcept { return kProcessCounters; }
std::span<const Row<ServerCounters>> server_counters() noexcept { return kServerCounters; }
std::span<const Row<RelayCounters>> relay_counters() noexcept { return kRelayCounters; }

void ProcessCounters::add(ProcessCounters other) noexcept {
  for (const auto& row : kProcessCounters) row.counter(*this).add(row.counter(other).get());
  ticks.set(std::min(ticks.get(), other.ticks.get()));
}

std::span<const WatchedCounter> watched_of_link() {
  static const auto counters = watched(kLinkCounters, 0, kServerRank);
  return counters;
}

std::span<const WatchedCounter> watched_of_server() {
  static const auto counters = watched(kProcessCounters, kServerRank, kSocketRank);
  return counters;
}

std::span<const WatchedCounter> watched_of_socket() {
  static const auto counters = watched(kProcessCounters, kSocketRank, kSnapshotRank);
  return counters;
}

std::span<const WatchedCounter> watched_of_snapshots() {
  static const auto counters = watched(kProcessCounters, kSnapshotRank, 40);
  return counters;
}

}  // namespace pqcmav
