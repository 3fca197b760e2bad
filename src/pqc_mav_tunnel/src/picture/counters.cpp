// SPDX-License-Identifier: Apache-2.0
#include "picture/counters.hpp"

#include <algorithm>
#include <vector>

namespace pqcmav {
namespace {

// Ranks of what is worth a warning: of a tunnel, of a ground station's handshakes, of the socket.
constexpr std::uint8_t kServerRank = 10, kSocketRank = 20;

using L = LinkCounters;
constexpr auto kLinkCounters = joined(
    std::array{
        row<&L::plain_rx_packets>("plain_rx_packets", "uint64",
                                  "datagrams received from the local application [count]"),
        row<&L::plain_rx_bytes>("plain_rx_bytes", "uint64", "the same in bytes [B]"),
        row<&L::plain_tx_packets>("plain_tx_packets", "uint64", "datagrams sent to the local application [count]"),
        row<&L::plain_tx_bytes>("plain_tx_bytes", "uint64", "the same in bytes [B]"),
        row<&L::plain_dropped_no_session>("plain_dropped_no_session", "uint64",
                                          "from the application, dropped because there was no session [count]")
            .warns(6, "plaintext packets without a session to carry them"),
        row<&L::plain_dropped_no_peer>("plain_dropped_no_peer", "uint64",
                                       "for the application, dropped because none is known yet [count]"),
        row<&L::plain_dropped_too_big>("plain_dropped_too_big", "uint64",
                                       "from the application, dropped because above the path limit [count]")
            .warns(5, "plaintext packets above the path limit"),
        row<&L::plain_dropped_kernel>("plain_dropped_kernel", "uint64",
                                      "from the application, dropped by the kernel's full buffer [count]")
            .warns(7, "plaintext packets that the kernel had no room for"),
        row<&L::plain_dropped_send>("plain_dropped_send", "uint64",
                                    "for the application, not sent because the operating system refused [count]"),
        row<&L::plain_dropped_yield>("plain_dropped_yield", "uint64",
                                     "from the application, left out to make room for a rekey [count]")
            .only(kNotInDoor),
        row<&L::plain_tap_packets>("plain_tap_packets", "uint64", "copies for plain_tap [count]").only(kNoMessage),
        row<&L::plain_tap_dropped>("plain_tap_dropped", "uint64",
                                   "copies for plain_tap that the operating system refused [count]")
            .only(kNoMessage),
        row<&L::plain_tap_requests>("plain_tap_requests", "uint64",
                                    "requests of the program at plain_tap that were passed on [count]")
            .only(kNoMessage),
        row<&L::plain_tap_refused>("plain_tap_refused", "uint64",
                                   "requests of the program at plain_tap that were refused [count]")
            .only(kNoMessage),
        row<&L::enc_tx_packets>("enc_tx_packets", "uint64", "encrypted datagrams sent [count]"),
        row<&L::enc_tx_bytes>("enc_tx_bytes", "uint64", "the same in bytes [B]"),
        row<&L::enc_dropped_send>("enc_dropped_send", "uint64",
                                  "encrypted datagrams that the operating system refused to send [count]")
            .only(kNoMessage),
        row<&L::enc_rx_packets>("enc_rx_packets", "uint64",
                                "encrypted datagrams received that belong to this tunnel [count]"),
        row<&L::enc_rx_bytes>("enc_rx_bytes", "uint64", "the same in bytes [B]"),
        row<&L::delivered>("delivered", "uint64", "of these: opened and handed to the application [count]"),
        row<&L::delivered_datagrams>("delivered_datagrams", "uint64",
                                     "datagrams in those packets: several each, if bundled [count]")
            .only(kNoMessage),
        row<&L::control>("control", "uint64", "of these: opened control frames [count]"),
    },
    drop_rows<&L::drops>(),
    std::array{
        row<&L::window_skipped>("window_skipped", "uint64",
                                "packets that a newer one overtook: lost, or late and then in window_depth [count]"),
        row<&L::roams>("roams", "uint64",
                       "changes of the peer's address, each proved by an authenticated packet [count]"),
    });

using P = ProcessCounters;
template <HandshakeDrop what>
constexpr auto handshakes(std::string_view name, std::string_view text) {
  return row_in<&P::handshakes, what>(name, "uint64", text);
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
        row<&P::enc_rx_datagrams>("enc_rx_datagrams", "uint64", "datagrams received on the data port [count]"),
        row<&P::enc_rx_bytes>("enc_rx_bytes", "uint64", "the same in bytes of UDP payload [B]"),
        row<&P::delivered>("delivered", "uint64", "opened and handed to the application [count]"),
        row<&P::delivered_datagrams>("delivered_datagrams", "uint64",
                                     "datagrams in those packets: several each, if bundled [count]")
            .only(kNoMessage),
        row<&P::control>("control", "uint64", "opened control frames [count]"),
    },
    drop_rows<&P::drops>(), kHandshakeCounters,
    std::array{
        row<&P::other_version>("other_version", "uint64", "of drop_malformed: packets of an older protocol [count]")
            .warns(kServerRank + 6, "datagrams of an older protocol version"),
        row<&P::doubled>("doubled", "uint64",
                         "of drop_replay: packets that came the first time in the last 0.1-0.2 s [count]"),
        row<&P::skipped>("skipped", "uint64", "packets that had not come when a later one of their key did [count]"),
        row<&P::skips>("skips", "uint64",
                       "how often that was so; skipped / skips is how many are missing in a row [count]"),
        row<&P::late>("late", "uint64", "of skipped: those that came after all [count]"),
        row<&P::kernel>("drop_kernel", "uint64",
                        "besides all of these: dropped by the kernel because its buffer was full; a run that came "
                        "together counts as one [count]")
            .warns(kSocketRank + 1, "times that the kernel had no room for datagrams of the tunnel"),
        row<&P::yielded>("drop_yield", "uint64",
                         "datagrams of the applications left out to make room for a rekey [count]")
            .only(kNoMessage),
        row<&P::standby>("drop_standby", "uint64",
                         "on a drone: data of a ground station that is not the active one [count]")
            .only(kNoMessage),
    });

using S = ServerCounters;
constexpr std::array kServerCounters{
    row<&S::gated>("hs_gated", "uint64", "hellos whose gate verified; 0 on a drone [count]"),
    row<&S::retried>("hs_retried", "uint64", "hellos answered with Retry; 0 on a drone [count]"),
    row<&S::completed>("hs_completed", "uint64", "handshakes completed by the gcs; 0 on a drone [count]"),
    row<&S::ratchets>("hs_ratchets", "uint64", "of these: ratchets [count]").only(kNoMessage),
    row<&S::failed>("hs_failed", "uint64", "handshakes failed at the gcs; 0 on a drone [count]"),
    row<&S::busy>("hs_busy", "uint64", "attempts and fragments that found no place [count]").only(kNoMessage),
    row<&S::restarts>("restarts_told", "uint64", "drones that were told that this gcs has started anew [count]")
        .only(kNoMessage),
    row<&S::keygens>("keygens", "uint64", "KEM key pairs made [count]").only(kNoMessage),
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
  static const auto counters = watched(kProcessCounters, kSocketRank, 30);
  return counters;
}

}  // namespace pqcmav
