// SPDX-License-Identifier: Apache-2.0
// The drone's side of handshakes over the data port: one attempt at a time.
//
//   data thread:    datagrams, fragments, time-outs
//   control thread: run(), which computes and waits
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "control/client_attempt.hpp"
#include "control/handed_out.hpp"
#include "handshake/handshake.hpp"
#include "handshake/ratchet.hpp"
#include "handshake/transport.hpp"
#include "net/data_plane.hpp"
#include "net/handshake_port.hpp"

namespace pqcmav {

struct ClientOutcome {
  HandshakeError error = HandshakeError::none;
  std::uint8_t reject_code = 0;
  Families avoided;    // by the gcs, where it refused for that
  std::string reason;  // sentence, "" when ok
  SessionKeys keys;    // when ok
  SockAddr gcs;        // the address that answered
  std::uint64_t duration_ns = 0;
  HandshakeTimes times;
};

class HandshakeClient final : public HandshakePort {
 public:
  /// `restarted` is called in the data thread when a gcs shows the token of a session with it.
  HandshakeClient(DataPlane& data, std::size_t stations, std::function<void(const SessionId&)> restarted);

  /// Runs one handshake: a first one with the gcs at one of `targets`, or, without targets, a rekey inside the running
  /// session. `give_up` is asked every so often; a sentence ends the attempt (cancelled). Blocks; throws nothing but
  /// std::bad_alloc. Control thread.
  ClientOutcome run(InitiatorParams params, std::vector<SockAddr> targets,
                    const std::function<std::optional<std::string>()>& give_up);
  /// The same with a ratchet inside the running session.
  ClientOutcome run(RatchetParams params, const std::function<std::optional<std::string>()>& give_up);
  /// Wakes run(), so that it asks give_up. Any thread.
  void nudge();
  /// Has the attempt that runs heard nothing at all? Any thread.
  [[nodiscard]] bool silent() const noexcept { return silent_.load(std::memory_order_relaxed); }
  /// What that gcs handed out last. Any thread.
  [[nodiscard]] std::optional<ReturnTicket> ticket(std::size_t station);
  /// The same, once for each that is new. Any thread.
  [[nodiscard]] std::optional<ReturnTicket> new_ticket(std::size_t station);
  /// One of an earlier run. Before the data plane starts.
  void remember(std::size_t station, ReturnTicket ticket);

  HandshakeDrop on_datagram(ByteView datagram, const SockAddr& source, std::uint64_t now) override;
  void on_session_frame(std::size_t link, ByteView value, std::uint64_t now) override;
  void on_unknown_session(const SessionId&, const SockAddr&, std::uint64_t) override {}
  void on_session_ended(std::size_t link, std::uint64_t now) override;
  void on_removed(std::size_t, std::uint64_t) override {}  // its only drone stays
  void on_switched(std::size_t, std::uint64_t) override {}
  void on_grant_due(std::size_t, std::uint64_t) override {}
  void on_return(const ReturnGrant& grant, std::size_t link) override;
  void on_restart_token(const RestartToken& token, std::size_t link) override;
  void run(std::uint64_t now) override;
  [[nodiscard]] std::uint64_t deadline() const noexcept override { return deadline_; }

 private:
  /// What the data thread tells the control thread.
  struct Letter {
    std::optional<HandshakeError> ended;
    Bytes message;
    SockAddr from;
  };

  template <typename Initiator>
  void converse(Initiator& initiator, std::shared_ptr<ClientAttempt> attempt,
                const std::function<std::optional<std::string>()>& give_up, ClientOutcome& out);
  [[nodiscard]] std::optional<Letter> next_letter(const std::function<std::optional<std::string>()>& give_up,
                                                  std::string& reason);
  void begin(std::shared_ptr<ClientAttempt> attempt, Bytes hello, std::vector<FrameLimits> answers);
  void reply(Bytes frame, std::vector<FrameLimits> expecting);
  void ask_again(std::uint16_t after_ms);
  void finish();
  [[nodiscard]] bool answers_ended(ByteView datagram, std::uint64_t now) const;
  void go_on(std::uint64_t now);
  void send_due(std::uint64_t now);
  void post_letter(Letter letter);
  void reschedule() noexcept;

  DataPlane& data_;
  std::function<void(const SessionId&)> restarted_;

  // Data thread.
  std::shared_ptr<ClientAttempt> attempt_;
  std::uint64_t deadline_ = Transport::kNever;
  RestartTokens tokens_;
  /// An attempt that ended a moment ago: what still answers it is no stranger's.
  struct Ended {
    AttemptId name{};
    FragmentKeys keys;
    std::uint64_t until_ns = 0;
  };
  std::optional<Ended> ended_;

  std::atomic<bool> silent_{true};
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Letter> letters_;
  bool nudged_ = false;
  struct Ticket {
    std::optional<ReturnTicket> ticket;
    bool is_new = false;
  };
  std::vector<Ticket> tickets_;  // by station
};

}  // namespace pqcmav
