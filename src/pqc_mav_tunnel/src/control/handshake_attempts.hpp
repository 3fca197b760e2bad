// SPDX-License-Identifier: Apache-2.0
// The handshakes that a gcs runs, or whose last answer it keeps, found by what a datagram, a frame, a session or the
// clock asks for. Each question costs the same among a thousand as among one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "constants.hpp"
#include "control/admission.hpp"
#include "handshake/handshake.hpp"
#include "handshake/transport.hpp"
#include "net/address_book.hpp"

namespace pqcmav {

struct HandshakeAttempt {
  enum class Phase : std::uint8_t { with_worker, waiting, lingering };

  HandshakeAttempt(std::uint64_t number, Transport&& carrier) : id(number), transport(std::move(carrier)) {}

  /// Its first datagram came; M2 may have `answer` bytes. Inside a session it may take its time, if it gets on.
  void begin(std::size_t answer, std::uint64_t now) noexcept {
    began_ns = now;
    limit_ns = session ? Transport::kNever : now + to_ns(kHandshakeLimit) + answer / 1024 * to_ns(seconds(1));
  }

  const std::uint64_t id;  // never used again, so that a late result finds nobody
  // What it is found by: unchanged once it is in the table, except through it.
  AttemptId name{};
  std::size_t link = 0;
  std::optional<SessionId> session;  // the one whose frames carry it
  std::optional<SessionId> makes;    // the one that it offered in M2
  std::vector<SockAddr> paths;       // by Transport's number
  AttemptFacts facts;
  Phase phase = Phase::waiting;

  FragmentKeys keys;
  Transport transport;
  Bytes m1;            // outside sessions: what cookies are made for
  SockAddr elsewhere;  // where the newest datagram came from that came by none of its paths
  HandshakeKind kind = HandshakeKind::first;
  std::shared_ptr<Responder> responder;
  std::uint64_t began_ns = 0, limit_ns = 0;
  bool announced = false;  // the host was told that it runs
  bool computed = false;   // M2 or R2 was: what comes next is no copy of an old M1

 private:
  friend class HandshakeAttempts;
  std::uint64_t due_ns_ = ~std::uint64_t{0};
};

/// One thread.
class HandshakeAttempts {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  using Attempt = HandshakeAttempt;

  Attempt& add(std::unique_ptr<Attempt> attempt);
  void remove(Attempt& attempt);
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  /// Null when it has ended.
  [[nodiscard]] Attempt* find(std::uint64_t id) const;
  /// Outside sessions: one of that name for which `which` holds. Several drones may use the same name.
  template <typename Which>
  [[nodiscard]] Attempt* named(const AttemptId& name, const Which& which) const {
    const auto [first, last] = by_name_.equal_range(key_of(name));
    for (auto it = first; it != last; ++it)
      if (which(*it->second)) return it->second;
    return nullptr;
  }
  /// The one that the frames of this session carry.
  [[nodiscard]] Attempt* in_session(std::size_t link, const SessionId& session) const;
  /// All of a drone, the oldest first.
  [[nodiscard]] std::vector<Attempt*> of_link(std::size_t link) const;
  /// Does one of them offer this session?
  [[nodiscard]] bool offers(const SessionId& session) const { return offered_.contains(key_of(session)); }
  /// Does one of them come from there?
  [[nodiscard]] bool knows(const SockAddr& source) const noexcept { return sources_.contains(source); }
  /// Those that run, without those that linger.
  [[nodiscard]] Census& census() noexcept { return census_; }

  /// An address more, or another in that place.
  void set_path(Attempt& attempt, PathIndex path, const SockAddr& address);
  void offer(Attempt& attempt, const SessionId& session);
  /// Somebody answered what was sent to one of its addresses.
  void set_answered(Attempt& attempt);
  /// It is over, and only its last answer is kept.
  void linger(Attempt& attempt);

  /// When it is to be looked at next.
  void schedule(Attempt& attempt, std::uint64_t due_ns);
  [[nodiscard]] std::uint64_t next_due() const noexcept { return queue_.empty() ? kNever : queue_.begin()->first; }
  /// Those that are due now, each once, whatever is scheduled meanwhile.
  [[nodiscard]] std::vector<std::uint64_t> due(std::uint64_t now) const;

 private:
  void withdraw(Attempt& attempt);

  std::unordered_map<std::uint64_t, std::unique_ptr<Attempt>> all_;
  std::unordered_multimap<std::uint64_t, Attempt*> by_name_;        // those outside sessions
  std::unordered_map<std::size_t, std::vector<Attempt*>> by_link_;  // none of them empty
  std::unordered_multimap<std::uint64_t, Attempt*> offered_;        // by the session that M2 names
  std::set<std::pair<std::uint64_t, std::uint64_t>> queue_;         // when, and whose id
  AddressBook sources_;
  Census census_;
};

}  // namespace pqcmav
