// SPDX-License-Identifier: Apache-2.0
// The state of a Transport; its input is in transport_input.cpp, its output in transport_output.cpp.
#pragma once

#include <array>
#include <deque>

#include "handshake/ack_timer.hpp"
#include "handshake/hello_schedule.hpp"
#include "handshake/incoming_message.hpp"
#include "handshake/outgoing_message.hpp"
#include "handshake/path_ledger.hpp"
#include "handshake/rtt_estimator.hpp"
#include "handshake/send_window.hpp"
#include "handshake/sent_log.hpp"
#include "handshake/transport.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {

struct Transport::Impl {
  // Types of messages, as fragments carry them.
  static constexpr auto kM1 = static_cast<std::uint8_t>(MessageType::client_hello);
  static constexpr auto kM2 = static_cast<std::uint8_t>(MessageType::server_hello);
  static constexpr auto kM3 = static_cast<std::uint8_t>(MessageType::client_finish);
  static constexpr auto kM4 = static_cast<std::uint8_t>(MessageType::server_finish);
  static constexpr auto kReject = static_cast<std::uint8_t>(MessageType::reject);
  static constexpr std::uint8_t kR1 = 5, kR2 = 6;

  Impl(const TransportOptions& chosen, FragmentKeys fragment_keys);

  // What goes out.
  void start_hello(Bytes m1, std::uint32_t copies, HelloSchedule::Sizes sizes, std::uint64_t now);
  void start(Bytes frame, std::uint64_t now);
  void open_window();
  void start_last(Bytes frame, std::uint64_t now);
  void work(std::uint64_t now);
  void send_hellos(std::uint64_t now);
  void send_acks(std::uint64_t now);
  void send_copies(std::uint64_t now);
  void on_timeout(std::uint64_t now);
  void ask_again(std::uint64_t now);
  void pump(std::uint64_t now);
  enum class Sent { yes, no, forbidden };
  Sent send_next(std::uint64_t now);
  Sent send_lost(std::uint32_t index, std::uint64_t now);
  Sent send_new(std::uint64_t now);
  bool send_fragment(PathIndex path, std::uint32_t index, std::uint64_t now);
  void send_ack(const Ack& ack, std::uint64_t now);
  void send_ack_to(PathIndex path, const Ack& ack, std::uint64_t now);
  void send_state(std::uint64_t now);
  void send_last(PathIndex path, std::uint64_t now);
  [[nodiscard]] Bytes begin() const;
  [[nodiscard]] bool acks_hello(const Bytes& datagram, std::uint32_t index) const noexcept;
  bool send(Bytes datagram, PathIndex path, std::uint32_t fragment, std::uint64_t now);
  [[nodiscard]] Ack ack_of_complete(std::uint64_t now) const noexcept;
  void send_hello(std::size_t size, std::uint64_t now);
  [[nodiscard]] Ack stamped(std::uint64_t now) const noexcept;
  [[nodiscard]] std::uint64_t deadline() const noexcept;
  [[nodiscard]] bool sending() const noexcept { return outgoing && !outgoing->done(); }
  /// The peer has all of M3 (or R1), but its answer may be lost: that is sent again only when ours comes again.
  [[nodiscard]] bool unanswered() const noexcept {
    return outgoing && outgoing->done() && !answered && asks(outgoing->message());
  }
  static bool asks(std::uint8_t message) noexcept;
  static constexpr std::uint32_t kFirstContactWindow = 10, kWireWindow = KnownLink::kWindowByWire;
  // On a line that a few datagrams fill, none is late before so many others would have passed.
  static constexpr std::uint64_t kWireTimeoutParts = 4;
  static constexpr std::uint64_t kWideWait = 1'000 * kMs;
  void arm(std::uint64_t now) noexcept {
    const auto wait = rtt.timeout(timeouts);
    timeout_at = now + (wide ? std::min(wait, kWideWait) : wait);
  }

  // What comes in.
  Took on_datagram(ByteView datagram, PathIndex path, std::uint64_t now);
  std::optional<ByteView> open(ByteView datagram, std::uint32_t& packet) const noexcept;
  [[nodiscard]] bool allowed_total(const Fragment& fragment) const noexcept;
  [[nodiscard]] bool is_done(std::uint8_t message) const noexcept { return message < 64 && (done >> message & 1) != 0; }
  void on_packet(std::uint32_t packet, std::uint64_t now);
  bool on_ack(const Ack& ack, std::size_t with, std::uint64_t now);
  void on_round_trip(std::uint64_t round_trip, std::size_t size) noexcept;
  Took on_fragment(const Fragment& fragment, PathIndex path, std::uint64_t now);
  void on_answer(std::uint8_t message, std::uint64_t now);
  Took deliver(Bytes frame, std::uint8_t message, std::uint32_t count, PathIndex path, std::uint64_t now);
  [[nodiscard]] CutTerms terms() const noexcept {
    // By wire each datagram takes the time of one more, and a burst takes several of a group.
    const bool parity = (!options.in_session && options.wire_ns == 0) || lossy;
    return {options.in_session, options.datagram_limit, parity};
  }
  PathIndex join(std::size_t used);
  void lift() noexcept;
  void answered_by(PathIndex path) noexcept;

  TransportOptions options;
  FragmentKeys keys;
  PathLedger ledger;
  RttEstimator rtt;
  SentLog log;
  Counts counts;
  std::optional<std::uint64_t> full_round_trip;
  std::uint64_t last_progress = 0;
  bool lossy = false, arriving = false;
  bool wide = false;  // Transport::widen()

  std::deque<Outgoing> out;
  std::optional<HelloSchedule> hello;  // while M1 goes out by rule 2
  Bytes hello_frame;
  std::optional<Cookie> cookie;
  std::uint64_t retried_at = 0;
  std::optional<OutgoingMessage> outgoing;
  std::optional<SendWindow> window;
  std::uint64_t timeout_at = kNever, next_send = 0, started_at = 0;
  std::uint32_t repeats = 0;  // fragments that came again since the last progress
  std::uint32_t timeouts = 0, cut_timeouts = 0, forced = 0;
  bool more = false;       // there may be something to send once next_send has come
  bool forbidden = false;  // rule 3 stands in the way: rules 6 and 8 rest
  bool heard_since_start = false, answered = false;
  bool acked_whole = false;  // an ACK of all of the newest message went out: the peer may have nothing left to send
  struct Copy {
    std::uint64_t at;
    std::uint32_t fragment;
  };
  std::deque<Copy> copies;  // rule 10
  Bytes last;               // M4 or R2: what a repeated M3 or R1 is answered with
  std::uint8_t last_answers = 0;
  PathIndex last_path = 0;
  std::deque<std::uint64_t> last_due;
  std::array<std::uint64_t, kPaths> last_again{};  // to each path not before this time

  std::vector<FrameLimits> allowed;
  std::uint64_t done = 0;  // a bit for each message that came whole
  std::optional<IncomingMessage> incoming;
  std::optional<Bytes> ready;
  std::optional<std::uint32_t> highest;
  std::uint64_t highest_at = 0;
  AckTimer ack_timer;
  std::uint8_t complete_message = 0;  // the newest that came whole, and its fragments
  std::uint32_t complete_count = 0;
  PathIndex complete_path = 0;
  std::uint64_t complete_due = kNever;  // its own acknowledgement, while the answer is not there
};

}  // namespace pqcmav
