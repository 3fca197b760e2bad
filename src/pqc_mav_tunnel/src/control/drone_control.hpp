// SPDX-License-Identifier: Apache-2.0
// The drone's control thread: it alone decides when to shake hands. A first handshake when there is no session, the gcs
// fell silent or was restarted; a rekey inside the session when asked, when due by time, or when a key was used enough. The running
// session is untouched until a handshake succeeded.
#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <variant>

#include "control/backoff.hpp"
#include "control/blacklist.hpp"
#include "control/handshake_client.hpp"
#include "control/link_ledger.hpp"
#include "control/rekey_plan.hpp"
#include "control/return_file.hpp"
#include "control/station_choice.hpp"
#include "control/term_file.hpp"
#include "keys/key_folders.hpp"
#include "net/data_plane.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/status.hpp"
#include "thread.hpp"

namespace pqcmav {

class DroneControl {
 public:
  /// Reads the keys needed for the configured suite (throws TunnelError).
  DroneControl(const EngineConfig& config, EventQueue& events);
  ~DroneControl();
  DroneControl(const DroneControl&) = delete;
  DroneControl& operator=(const DroneControl&) = delete;

  /// Before the data plane starts: its thread drives the handshakes.
  void attach(DataPlane& data);
  void start();
  void stop();
  /// Any thread. Throws TunnelError, and nothing has changed then.
  KeyChanges reload_keys(bool dry_run);
  RekeyOutcome request_rekey(const std::string& suite, const std::string& reason, std::chrono::nanoseconds timeout,
                             bool ratchet, std::uint32_t pin_s);
  /// What an operator pinned, where that lasts still.
  void add_pin(LinkStatus& status) const;

  [[nodiscard]] std::vector<std::string> blacklist();
  /// The ground station to use as soon as it answers, and then before all others; "" = the order of 'peer'. False when
  /// there is no such station.
  bool use_station(const std::string& gcs_id);
  /// Of several stations: each with the part that it has, in the order of 'peer'.
  [[nodiscard]] std::vector<StationStatus> stations() const;

  // Hooks of the data plane.
  void on_changed();
  /// A gcs was restarted and does not know this session any more.
  void on_restarted(const SessionId& session);
  /// A gcs knows a term; the drone's must be above those of others.
  void on_term_told(std::uint32_t term);
  void refuse_request(std::size_t link, std::uint32_t request_id);
  void on_rekey_requested(const RekeyRequest& request);

  [[nodiscard]] LinkLedger& ledger() noexcept { return ledger_; }
  [[nodiscard]] const LinkLedger& ledger() const noexcept { return ledger_; }

 private:
  static constexpr std::uint64_t kNeverNs = ~std::uint64_t{0};
  static constexpr unsigned kMovesMost = 8;  // from suite to suite without a pause, at the gcs' word
  struct RemoteRequest {
    std::uint32_t id;
  };
  struct Request {
    std::uint64_t number = 0;
    std::string suite, reason;
    HandshakeKind kind = HandshakeKind::rekey;
    std::variant<std::promise<RekeyOutcome>, RemoteRequest> answer_to;
    std::uint32_t pin_s = 0;
  };
  struct Pinned {
    const Suite* suite;
    std::uint64_t until_ns;
  };
  /// One of the ground stations.
  struct Station {
    PeerEntry peer;
    Psk psk;
    std::optional<ReturnFile> return_file = std::nullopt;   // with a state_dir
    std::array<std::vector<SockAddr>, kPathsMost> known{};  // its addresses by each path when they were last looked up
    std::uint64_t next_word_ns = 0;                         // when its silence is told again
    // By which path it did not answer last, in this trouble: one attempt may be too short to try each.
    std::optional<std::size_t> unheard_by = std::nullopt;
  };
  InitiatorParams parameters(const Suite& suite, std::size_t station) const;
  void read_return_files();
  void write_return_files();
  void run();
  void step();
  void take_news(std::uint64_t now);
  void look_at(std::size_t link, std::optional<std::size_t> station, std::uint64_t now);
  /// Does what the choice of a station asks for. False when that is nothing.
  bool follow_choice(std::uint64_t now);
  void take_over(const StationChoice::Step& step, std::uint64_t now);
  void keep_term(std::uint32_t term);
  void say_change(std::optional<std::size_t> before);
  void show_stations();
  void say_unanswered(const StationChoice::Step& step, const ClientOutcome& outcome);
  void first_handshake(const StationChoice::Step& step);
  void mind_the_port(HandshakeError error);
  RekeyOutcome rekey(const Suite& suite, const std::string& reason, HandshakeKind kind);
  RekeyOutcome rekey_on_request(const Request& request);
  void pin(const Suite& suite, const Request& request, RekeyOutcome& outcome);
  void serve(Request request);
  /// `first`: what a first handshake is for; none: a rekey inside the running session.
  bool handshake(const Suite& suite, const std::optional<StationChoice::Step>& first, ClientOutcome& outcome);
  bool ratchet(const Suite& suite, HandshakeKind kind, ClientOutcome& outcome);
  bool conclude(const Suite& suite, HandshakeKind kind, const std::optional<StationChoice::Step>& first,
                std::uint8_t epoch, ClientOutcome& outcome);
  std::vector<SockAddr> addresses(Station& station, std::size_t path, ClientOutcome& outcome) const;
  [[nodiscard]] std::optional<std::size_t> next_path(std::size_t after) const;
  void learn_paths();
  std::optional<std::string> reason_to_give_up(const std::optional<StationChoice::Step>& first, std::uint64_t began_ns);
  void answer_remote(std::size_t link, std::uint32_t id, const RekeyOutcome& outcome);
  void schedule_periodic(bool first);
  void retry_periodic();
  [[nodiscard]] RekeyFacts facts_of(const LinkPicture& picture) const;
  [[nodiscard]] bool avoided(const Suite& suite);
  [[nodiscard]] bool family_avoided(const Suite& suite);
  [[nodiscard]] bool ratchet_avoided(const Suite& suite);
  const Suite* successor(const Suite& from, std::size_t station);
  void say_moving(const Suite& from, const Suite& to, const std::string& reason);
  RekeyOutcome rekey_or_move(const Suite& suite, const std::string& reason, HandshakeKind kind);

  const EngineConfig config_;
  EventQueue& events_;
  mutable std::mutex keys_mutex_;
  DroneKeys keys_;
  std::vector<Station> stations_;  // as in 'peer'
  LinkLedger ledger_;
  DataPlane* data_ = nullptr;
  std::unique_ptr<HandshakeClient> client_;
  bool told_unwritable_ = false, told_term_unwritable_ = false;
  StationChoice choice_;  // control thread
  TermFile term_file_;
  std::uint32_t hello_term_ = 0;        // of the newest M1
  std::uint64_t decided_heard_ns_ = 0;  // when the active station had been heard at the last decision
  const Suite* suite_;                  // of the next fresh handshake: the last one that worked
  unsigned moves_ = 0;                  // of first handshakes, since one succeeded
  const Suite* moved_from_ = nullptr;   // by them, at a word that no session vouched for
  Backoff backoff_, rekey_backoff_;
  unsigned late_failures_ = 0;  // of rekeys of its own, since two intervals passed without new keys
  std::uint64_t next_attempt_ns_ = 0, next_periodic_ns_ = 0, next_old_ns_ = 0;
  bool told_silence_ = false;  // since this was begun
  std::uint64_t asking_since_ns_ = 0;
  std::uint64_t port_tried_ns_ = 0;  // since when nobody has answered to what comes from the UDP port in use
  bool told_port_ = false;
  // With several paths: by which a first handshake is tried, whether another one is to be, and when to look up again
  // where the gcs is by the others.
  std::size_t path_ = 0;
  bool by_next_path_ = false;
  std::uint64_t next_learn_ns_ = kNeverNs;
  std::uint64_t life_ = 0;   // DataPlane::set_backs() when it began
  bool other_keys_ = false;  // were read since it began
  std::minstd_rand random_;
  std::shared_ptr<IndexPool> indices_ = IndexPool::make(kDroneIndices, to_ns(kGrace));
  std::optional<Pinned> pinned_;
  std::optional<std::pair<std::uint32_t, RekeyOutcome>> last_remote_;  // a repeated request gets the same answer

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Request> requests_;  // bounded; each waits for those before it
  std::uint64_t request_ids_ = 0;
  Blacklist blacklist_;
  bool stopping_ = false, attention_ = false;
  std::vector<std::pair<SessionId, std::uint64_t>> restarted_;  // whose token was shown, and when
  std::optional<std::uint32_t> term_told_;
  std::optional<std::string> wanted_;  // the newest of use_station
  bool keys_changed_ = false;
  std::vector<StationStatus> shown_;  // what stations() says
  std::optional<std::uint32_t> serving_remote_;
  Fd cancel_;
  BigThread thread_;
};

}  // namespace pqcmav
