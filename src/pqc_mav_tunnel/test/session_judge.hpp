// SPDX-License-Identifier: Apache-2.0
// What a simulated world records, to judge sessions by: every key ever made and every sequence used under
// it, and when each key should have died.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "session_fixture.hpp"

namespace pqcmav::test {

/// Over all ends and all their lives: no key is made twice, has two senders, or sees a sequence twice.
class NonceJudge {
 public:
  /// Both ends of a session come by its keys; the bytes must be the same at both, and new to the world.
  void made(const SessionKeys& keys) {
    const std::pair both(bytes(keys.k_d2g), bytes(keys.k_g2d));
    if (const auto known = sessions_.find(keys.session_id); known != sessions_.end()) {
      ASSERT_EQ(known->second, both) << "the ends of one session have different keys";
      return;
    }
    sessions_.emplace(keys.session_id, both);
    ASSERT_TRUE(keys_.insert(both.first).second && keys_.insert(both.second).second) << "a key was made twice";
  }

  /// A packet that an end sealed in its life number `life`.
  void sealed(bool drone, unsigned life, const Header& header) {
    ASSERT_TRUE(sessions_.contains(header.session_id));
    const auto& both = sessions_.at(header.session_id);
    const auto& key = drone ? both.first : both.second;
    ASSERT_TRUE(nonces_.emplace(key, header.epoch, header.sequence).second)
        << (drone ? "drone" : "gcs") << " used sequence " << header.sequence << " twice";
    const std::pair me(drone, life);
    ASSERT_EQ(senders_.emplace(key, me).first->second, me) << "two senders under one key";
  }
  [[nodiscard]] std::size_t count() const { return nonces_.size(); }

 private:
  using Key = std::array<std::uint8_t, 32>;
  static Key bytes(const Secret<32>& secret) {
    Key out;
    std::copy(secret.view().begin(), secret.view().end(), out.begin());
    return out;
  }
  std::map<SessionId, std::pair<Key, Key>> sessions_;
  std::set<Key> keys_;
  std::set<std::tuple<Key, std::uint8_t, std::uint64_t>> nonces_;
  std::map<Key, std::pair<bool, unsigned>> senders_;
};

/// When the keys of one end were installed, replaced, and outlived by a packet under their successor.
class LifetimeJudge {
 public:
  /// How late a key may go: the session looks ten times a second.
  static constexpr std::uint64_t kTick = 100 * kMs;

  explicit LifetimeJudge(bool drone) : drone_(drone) {}
  void installed(const Session& session, const SessionId& id, std::uint64_t now) {
    for (auto& [other, key] : keys_)
      if (drone_ || !session.current() || other != session.current()->id) key.replaced = key.replaced.value_or(now);
    keys_[id].installed = now;
  }
  /// A packet under `id`, which is or becomes the current key, or a handshake that names it.
  void heard(const Session& session, const SessionId& id, std::uint64_t now) {
    for (auto& [other, key] : keys_) {
      if (other == id) continue;
      if (!drone_ && other != pending(session)) key.replaced = key.replaced.value_or(now);
      if (key.replaced) key.next_heard = key.next_heard.value_or(now);
    }
  }
  void closed(const Session& session, std::uint64_t now) {
    for (auto& [id, key] : keys_) {
      if (id == pending(session)) continue;
      key.replaced = key.replaced.value_or(now);
      key.next_heard = key.next_heard.value_or(now);
    }
  }
  void sent_under(const SessionId& id) {
    if (!order_.empty() && order_.back() == id) return;
    ASSERT_EQ(std::find(order_.begin(), order_.end(), id), order_.end()) << "went back to an older key";
    order_.push_back(id);
  }
  void crashed() { *this = LifetimeJudge(drone_); }

  void check(const Session& session, std::uint64_t now) const {
    const auto* who = drone_ ? "drone" : "gcs";
    const auto ids = receive_ids(session);
    ASSERT_LE(ids.size(), Session::kSlots);
    for (const auto& id : ids) {
      ASSERT_TRUE(keys_.contains(id));
      const auto& key = keys_.at(id);
      ASSERT_TRUE(!key.replaced || now < *key.replaced + kTimers.unused + kTick)
          << who << " keeps a replaced key indefinitely";
      ASSERT_TRUE(!key.next_heard || now < *key.next_heard + kTimers.grace + kTick)
          << who << " keeps an old key beyond the grace time";
      ASSERT_TRUE(pending(session) != id || now < key.installed + kTimers.unused + kTick)
          << who << " keeps unused keys indefinitely";
    }
    ASSERT_TRUE(!session.current() || session.silence(now) < kTimers.limit) << "keys live beyond the hard limit";
    ASSERT_EQ(session.can_send(), session.current().has_value());
    for (const auto& info : {session.current(), session.pending()})
      ASSERT_TRUE(!info || receives(session, info->id)) << who << " speaks of keys that it cannot receive under";
  }

 private:
  struct Times {
    std::uint64_t installed = 0;
    std::optional<std::uint64_t> replaced, next_heard;
  };
  static SessionId pending(const Session& session) { return session.pending() ? session.pending()->id : SessionId{}; }

  bool drone_;
  std::map<SessionId, Times> keys_;
  std::vector<SessionId> order_;  // of first use for sending
};

}  // namespace pqcmav::test
