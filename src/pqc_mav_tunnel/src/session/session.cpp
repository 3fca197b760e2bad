// SPDX-License-Identifier: Apache-2.0
#include "session/session.hpp"

#include <algorithm>

#include "clock.hpp"
#include "constants.hpp"
#include "session/compact_header.hpp"

namespace pqcmav {

Session::Session(bool drone_side, const SessionTimers& timers, std::size_t window_bits, const KeyLimits& limits)
    : drone_side_(drone_side), timers_(timers), window_bits_(window_bits), limits_(limits) {}

Session::Slot& Session::free_slot() noexcept {
  for (auto& slot : slots_)
    if (!slot.key) return slot;
  // Rekeys faster than the grace time: the old key that expires first makes room. Current and pending are at most two
  // of four.
  Slot* victim = nullptr;
  for (auto& slot : slots_)
    if (slot.use == Use::old && (victim == nullptr || slot.expires_ns < victim->expires_ns)) victim = &slot;
  victim->wipe();
  return *victim;
}

void Session::retire_current(std::uint64_t expires_ns) noexcept {
  for (auto& slot : slots_)
    if (slot.key && slot.use == Use::current) {
      slot.use = Use::old;
      slot.expires_ns = expires_ns;
    }
}

void Session::limit_old(std::uint64_t expires_ns) noexcept {
  for (auto& slot : slots_)
    if (slot.key && slot.use == Use::old) slot.expires_ns = std::min(slot.expires_ns, expires_ns);
}

void Session::promote(std::uint64_t now) noexcept {
  retire_current(now + timers_.grace);
  for (auto& slot : slots_)
    if (slot.key && slot.use == Use::pending) {
      slot.use = Use::current;
      slot.expires_ns = kNever;
    }
  send_ = std::move(pending_send_);
  pending_send_.reset();
  chain_ = std::move(pending_chain_);
  current_ = pending_;
  pending_.reset();
}

void Session::install(SessionKeys keys, std::uint64_t now, std::uint64_t turn_ns) {
  const auto& receive = drone_side_ ? keys.k_g2d : keys.k_d2g;
  const auto& send = drone_side_ ? keys.k_d2g : keys.k_g2d;
  const bool compact = (keys.features & features::kCompact) != 0, bundles = (keys.features & features::kBundles) != 0;
  ReceiveKey receive_key(*keys.suite, keys.session_id, keys.epoch, receive.view(), window_bits_, bundles, limits_);
  SendKey send_key(*keys.suite, keys.session_id, keys.epoch, send.view(),
                   compact ? std::optional(keys.peer_index) : std::nullopt, limits_.packets);
  const Info info{keys.suite, keys.hybrid,   keys.drone_signed, keys.session_id,  keys.epoch,
                  now,        keys.features, keys.ratchets,     keys.full_boot_ns};
  keys.own_index.use();
  ended_ = KeyEnd::none;

  for (auto& slot : slots_)
    if (slot.key && slot.use == Use::pending) slot.wipe();  // a second attempt replaces the first
  if (drone_side_) {
    retire_current(now + timers_.unused);
    auto& slot = free_slot();
    slot = Slot{std::move(receive_key), Use::current, kNever, std::move(keys.own_index)};
    send_ = std::move(send_key);
    chain_ = std::move(keys.chain);
    current_ = info;
    confirmed_ = false;
    heard_ns_ = now;
    turned_ns_ = now + turn_ns;
  } else {
    auto& slot = free_slot();
    slot = Slot{std::move(receive_key), Use::pending, now + timers_.unused, std::move(keys.own_index)};
    pending_send_ = std::move(send_key);
    pending_chain_ = std::move(keys.chain);
    pending_ = info;
  }
}

std::optional<MutableBytes> Session::seal(FrameType type, MutableBytes packet, std::uint64_t now,
                                          bool long_form) noexcept {
  if (!send_) return std::nullopt;
  const auto out = send_->seal(type, packet, long_form);
  if (out) sent_ns_ = now;
  return out;
}

std::optional<MutableBytes> Session::seal_early(MutableBytes packet, std::uint64_t now) noexcept {
  if (send_ || !pending_send_ || now < pending_->installed_ns + to_ns(kEarlyAfter) ||
      now >= pending_->installed_ns + to_ns(kEarlyUntil))
    return std::nullopt;
  return pending_send_->seal(FrameType::data, packet);
}

std::optional<Header> Session::header_of(const CompactHeader& compact) const noexcept {
  for (const auto& slot : slots_)
    if (slot.index.value() == compact.index) return slot.key->header_of(compact);
  return std::nullopt;
}

std::optional<std::uint64_t> Session::seen() const noexcept {
  for (const auto& slot : slots_)
    if (slot.key && slot.use == Use::current && slot.index.value() && slot.key->next_expected() > 0)
      return slot.key->next_expected() - 1;
  return std::nullopt;
}

std::uint64_t Session::next_expected() const noexcept {
  for (const auto& slot : slots_)
    if (slot.key && slot.use == Use::current) return slot.key->next_expected();
  return 0;
}

Session::Opened Session::open(const Header& header, MutableBytes packet, std::uint64_t now, std::size_t head) noexcept {
  Opened out;
  for (auto& slot : slots_) {
    if (!slot.key || slot.key->session_id() != header.session_id || slot.key->epoch() != header.epoch) continue;
    const auto opened = slot.key->open(header, packet, head);
    if (opened.drop) {
      // Only an unusable content can be told apart from forgery here: everything else leaves the session untouched.
      out.drop = opened.drop;
      return out;
    }
    // A peer that is heard under old keys alone, after it had time to turn to the current ones, does not have them: that
    // counts as silence, so that the drone starts afresh.
    if (slot.use != Use::old || (drone_side_ && !confirmed_ && now < turned_ns_)) heard_ns_ = now;
    out.type = opened.type;
    out.payload = opened.payload;
    out.behind = opened.behind;
    out.skipped = opened.skipped;
    if (slot.use == Use::pending) {
      promote(now);
      out.switched = true;
    }
    if (slot.use == Use::current) {
      out.current = true;
      if (drone_side_ && !confirmed_) {
        confirmed_ = true;
        limit_old(now + timers_.grace);
      }
    }
    return out;
  }
  out.drop = Drop::unknown;
  return out;
}

bool Session::is_repeat(const Header& header, MutableBytes packet, std::size_t head) noexcept {
  return std::ranges::any_of(slots_, [&](Slot& slot) {
    return slot.key && slot.use == Use::current && slot.key->session_id() == header.session_id &&
           slot.key->epoch() == header.epoch && slot.key->is_repeat(header, packet, head);
  });
}

bool Session::tick(std::uint64_t now) noexcept {
  bool changed = false;
  auto why = send_ && send_->spent() ? KeyEnd::spent : KeyEnd::none;
  for (const auto& slot : slots_)
    if (slot.key && slot.use == Use::current && slot.key->end() != KeyEnd::none) why = slot.key->end();
  if (current_ && (why != KeyEnd::none || silence(now) >= timers_.limit)) {
    ended_ = why;
    drop_current(now);
    changed = true;
  }
  for (auto& slot : slots_) {
    if (!slot.key || now < slot.expires_ns) continue;
    if (slot.use == Use::pending) {
      pending_.reset();
      pending_send_.reset();
      pending_chain_ = Secret<32>();
    }
    slot.wipe();
    changed = true;
  }
  return changed;
}

std::uint64_t Session::key_use() const noexcept {
  auto out = sealed_packets();
  for (const auto& slot : slots_)
    if (slot.key && slot.use == Use::current) out = std::max(out, slot.key->next_expected());
  return out;
}

void Session::drop_current(std::uint64_t receive_until_ns) noexcept {
  send_.reset();
  chain_ = Secret<32>();
  current_.reset();
  retire_current(receive_until_ns);
  limit_old(receive_until_ns);
}

void Session::close(std::uint64_t now) noexcept { drop_current(now + timers_.grace); }

void Session::wipe(KeyEnd why) noexcept {
  ended_ = why;
  drop_current(0);
  pending_send_.reset();
  pending_chain_ = Secret<32>();
  pending_.reset();
  for (auto& slot : slots_) slot.wipe();
}

}  // namespace pqcmav
