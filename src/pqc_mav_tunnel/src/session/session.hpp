// SPDX-License-Identifier: Apache-2.0
// One drone's keys over time, without sockets: which key sends, which keys still receive, when each is wiped, and
// when the peer counts as silent.
//
// drone: install() makes the new keys current at once and keeps the old receive key until `grace` after the first
//        packet under the new one.
// gcs:   install() keeps the new keys pending; the first packet that opens under them makes them current
//        (docs/protocol.md section 7).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "session/frame.hpp"

namespace pqcmav {

struct SessionTimers {  // nanoseconds
  std::uint64_t degraded, limit, grace, unused;
};

class Session {
 public:
  static constexpr std::size_t kSlots = 4;

  /// What is known about one installed key pair, without the keys.
  struct Info {
    const Suite* suite = nullptr;
    bool hybrid = false, drone_signed = false;
    SessionId id{};
    std::uint8_t epoch = 0;
    std::uint64_t installed_ns = 0;
    std::uint16_t features = 0;
    std::uint8_t ratchets = 0;       // since the last full handshake
    std::uint64_t full_boot_ns = 0;  // when that was
  };
  struct Opened {
    std::optional<Drop> drop;
    FrameType type = FrameType::data;
    MutableBytes payload;
    bool current = false;                   // under the newest key in use
    bool switched = false;                  // this packet made pending keys current
    std::uint64_t behind = 0, skipped = 0;  // see ReceiveKey::Opened
  };

  Session(bool drone_side, const SessionTimers& timers, std::size_t window_bits, const KeyLimits& limits = {});

  /// New keys from a handshake. One thread only, as every method. For `turn_ns`, a round trip of the link with what waits
  /// in its queues, a drone cannot hear anything under them: packets under the keys before count as hearing the gcs.
  void install(SessionKeys keys, std::uint64_t now, std::uint64_t turn_ns = 0);
  [[nodiscard]] bool can_send() const noexcept { return send_.has_value(); }
  /// May bundles be sent under the current key?
  [[nodiscard]] bool sends_bundles() const noexcept { return agreed(features::kBundles); }
  /// See SendKey::seal. nullopt without keys.
  std::optional<MutableBytes> seal(FrameType type, MutableBytes packet, std::uint64_t now,
                                   bool long_form = false) noexcept;
  /// gcs: the same under keys that no packet has confirmed yet, while there are no others. nullopt otherwise.
  std::optional<MutableBytes> seal_early(MutableBytes packet, std::uint64_t now) noexcept;
  /// See ReceiveKey::open.
  Opened open(const Header& header, MutableBytes packet, std::uint64_t now, std::size_t head = kHeaderSize) noexcept;
  /// See ReceiveKey::is_repeat; under the newest key in use.
  [[nodiscard]] bool is_repeat(const Header& header, MutableBytes packet, std::size_t head) noexcept;
  /// The long header that a compact one stands for; nullopt when its index is not held.
  [[nodiscard]] std::optional<Header> header_of(const CompactHeader& compact) const noexcept;
  /// What the peer says that it has seen of the packets under the current key.
  void peer_has_seen(std::uint64_t sequence) noexcept {
    if (send_) send_->peer_has_seen(sequence);
  }
  /// The same of this end, for the peer: nothing without compact headers, or before the first packet.
  [[nodiscard]] std::optional<std::uint64_t> seen() const noexcept;
  /// One above the highest sequence that opened under the key in use; 0 before the first.
  [[nodiscard]] std::uint64_t next_expected() const noexcept;
  /// What a packet that is sealed now has besides its payload.
  [[nodiscard]] std::size_t overhead() const noexcept { return send_ ? send_->overhead() : kOverhead; }
  /// Wipes what is due, and ends a session one of whose keys is used no more. True when the set of receive keys changed.
  bool tick(std::uint64_t now) noexcept;
  /// The peer said goodbye under the current key: stop sending now, receive for the grace time. Pending keys stay: they
  /// come from a later handshake.
  void close(std::uint64_t now) noexcept;
  void wipe(KeyEnd why = KeyEnd::none) noexcept;
  /// Why the last session ended, until there are new keys.
  [[nodiscard]] KeyEnd ended() const noexcept { return ended_; }

  /// The chain secret of the current session, while it can send: a rekey inside it is bound to it.
  [[nodiscard]] const Secret<32>* chain() const noexcept { return send_ ? &chain_ : nullptr; }
  [[nodiscard]] const std::optional<Info>& current() const noexcept { return current_; }
  /// Did both ends agree on it, a bit of `features`, for the keys in use?
  [[nodiscard]] bool agreed(std::uint16_t feature) const noexcept {
    return current_ && (current_->features & feature) != 0;
  }
  [[nodiscard]] const std::optional<Info>& pending() const noexcept { return pending_; }
  [[nodiscard]] std::uint64_t silence(std::uint64_t now) const noexcept {
    return now > heard_ns_ ? now - heard_ns_ : 0;
  }
  /// Silent for too long; `since`: before that nothing had to be heard.
  [[nodiscard]] bool degraded(std::uint64_t now, std::uint64_t since = 0) const noexcept {
    return now >= since && std::min(silence(now), now - since) >= timers_.degraded;
  }
  [[nodiscard]] std::uint64_t heard_ns() const noexcept { return heard_ns_; }
  [[nodiscard]] std::uint64_t last_sent_ns() const noexcept { return sent_ns_; }
  [[nodiscard]] std::uint64_t sealed_packets() const noexcept { return send_ ? send_->sealed() : 0; }
  /// How often the more used of the two current keys was used, as far as this end knows: by the peer at least up to the
  /// highest sequence that opened.
  [[nodiscard]] std::uint64_t key_use() const noexcept;

  template <typename Visit>
  void for_each_receive_id(Visit visit) const {
    for (const auto& slot : slots_)
      if (slot.key) visit(slot.key->session_id());
  }
  template <typename Visit>
  void for_each_receive_index(Visit visit) const {
    for (const auto& slot : slots_)
      if (const auto index = slot.index.value()) visit(*index);
  }

 private:
  enum class Use : std::uint8_t { current, pending, old };
  struct Slot {
    std::optional<ReceiveKey> key;
    Use use = Use::old;
    std::uint64_t expires_ns = kNever;
    ReceiveIndex index;
    void wipe() noexcept {
      key.reset();
      index.release();
    }
  };
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  Slot& free_slot() noexcept;
  void promote(std::uint64_t now) noexcept;
  void retire_current(std::uint64_t expires_ns) noexcept;
  void limit_old(std::uint64_t expires_ns) noexcept;
  void drop_current(std::uint64_t receive_until_ns) noexcept;

  bool drone_side_;
  SessionTimers timers_;
  std::size_t window_bits_;
  KeyLimits limits_;
  std::array<Slot, kSlots> slots_;
  std::optional<SendKey> send_, pending_send_;
  Secret<32> chain_, pending_chain_;
  std::optional<Info> current_, pending_;
  KeyEnd ended_ = KeyEnd::none;
  bool confirmed_ = false;  // drone: a packet opened under the current key
  std::uint64_t heard_ns_ = 0, sent_ns_ = 0, turned_ns_ = 0;
};

}  // namespace pqcmav
