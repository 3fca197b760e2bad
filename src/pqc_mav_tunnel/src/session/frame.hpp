// SPDX-License-Identifier: Apache-2.0
// The data-plane frame and its two ends: a SendKey that seals and a ReceiveKey that opens, both in place.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "constants.hpp"
#include "crypto/aead.hpp"
#include "crypto/secret.hpp"
#include "pqc_mav_tunnel/status.hpp"
#include "pqc_mav_tunnel/suites.hpp"
#include "session/receive_index.hpp"
#include "session/replay_window.hpp"

namespace pqcmav {

enum class FrameType : std::uint8_t { data = 0, control = 1, bundle = 2 };

struct Header {
  FrameType type;
  ByteArray<4> ids;
  SessionId session_id;
  std::uint64_t sequence;
  std::uint8_t epoch;
};

/// nullopt when shorter than kOverhead, or of a wrong version or type. Does not look at the ids.
std::optional<Header> parse_header(ByteView datagram) noexcept;
void write_header(const Header& header, std::span<std::uint8_t, kHeaderSize> out) noexcept;

/// What both ends may agree on in a handshake (docs/protocol.md section 4).
namespace features {
inline constexpr std::uint16_t kCompact = 1, kBundles = 2, kRatchet = 4, kStations = 8, kPaths = 16;
}

/// What one key may be used for.
struct KeyLimits {
  std::uint64_t packets = kKeyPacketsMost, failed_tags = kFailedTagsMost;
};

/// Why a key is used no more, so that its session ends.
enum class KeyEnd : std::uint8_t {
  none,
  spent,       // it carried as many packets as it may
  forgeries,   // so many tags failed that one that succeeds may be a forgery
  used_twice,  // the peer sealed two packets under one number, as after a snapshot of its machine was restored
  set_back     // this machine was set back to a snapshot, or copied: the same may happen here
};

/// What a completed handshake gives: the two directional keys of one (session, epoch).
struct SessionKeys {
  const Suite* suite = nullptr;
  bool hybrid = false;
  bool drone_signed = false;
  SessionId session_id{};
  std::uint8_t epoch = 0;
  Secret<32> k_d2g, k_g2d;
  Secret<32> chain;  // ck: a rekey inside this session is bound to it
  std::uint16_t features = 0;
  ReceiveIndex own_index;          // with compact headers: under which this end receives,
  std::uint16_t peer_index = 0;    // and the other one
  std::uint8_t ratchets = 0;       // since the last full handshake, this one included
  std::uint64_t full_boot_ns = 0;  // when that one's keys were installed, by boot_ns(); 0: by these
  // gcs, of a first handshake with feature kStations: what the drone said in M1.
  bool standby = false;
  std::uint32_t term = 0;
};

/// Seals packets of one key; owns the only sequence counter of that key, so no (key, epoch, sequence) is used twice.
/// One thread.
class SendKey {
 public:
  /// With `peer_index` frames have the compact form where they may.
  SendKey(const Suite& suite, const SessionId& id, std::uint8_t epoch, std::span<const std::uint8_t, 32> key,
          std::optional<std::uint16_t> peer_index = std::nullopt, std::uint64_t packets_most = kKeyPacketsMost);
  /// `packet` holds kHeaderSize bytes of room, the payload, kTagSize bytes of room. What is to be sent is `packet`, or,
  /// in the compact form, its end. nullopt when the key is spent or the library failed: then nothing may be sent (the
  /// sequence is spent all the same).
  std::optional<MutableBytes> seal(FrameType type, MutableBytes packet, bool long_form = false) noexcept;
  /// Bytes of header and tag of the next packet.
  [[nodiscard]] std::size_t overhead() const noexcept;
  /// The highest sequence of this key that the peer has verified, as it says.
  void peer_has_seen(std::uint64_t sequence) noexcept;
  /// Leaves sequence numbers out; only ever forwards, so nothing can be used twice.
  void skip_to(std::uint64_t sequence) noexcept;
  [[nodiscard]] std::uint64_t sealed() const noexcept { return next_; }
  [[nodiscard]] bool spent() const noexcept { return packets_ >= packets_most_ || next_ >= kSequenceLimit; }
  [[nodiscard]] const SessionId& session_id() const noexcept { return header_.session_id; }
  [[nodiscard]] std::uint8_t epoch() const noexcept { return header_.epoch; }

 private:
  [[nodiscard]] bool compact_allowed() const noexcept;

  Header header_;
  std::uint64_t next_ = 0, seen_next_ = 0;  // the latter: what the peer has seen, plus one
  std::uint64_t packets_ = 0, packets_most_;
  std::optional<std::uint16_t> peer_index_;
  std::unique_ptr<Aead> aead_;
};

struct CompactHeader;

/// Opens packets of one key, with its replay window. One thread.
class ReceiveKey {
 public:
  ReceiveKey(const Suite& suite, const SessionId& id, std::uint8_t epoch, std::span<const std::uint8_t, 32> key,
             std::size_t window_bits = kWindowBits, bool bundles = false, const KeyLimits& limits = {});
  struct Opened {
    std::optional<Drop> drop;  // nullopt: the packet is genuine and new
    FrameType type = FrameType::data;
    MutableBytes payload;       // inside `packet`, after decryption
    std::uint64_t behind = 0;   // how many places behind the highest so far; 0: it is that
    std::uint64_t skipped = 0;  // of the highest: how many sequence numbers it jumped over
  };
  /// `header` is the parsed head of `packet`, or the long header that its first `head` bytes stand for; session and
  /// epoch were looked up by the caller. Checks ids, window, tag; only then marks the window.
  Opened open(const Header& header, MutableBytes packet, std::size_t head = kHeaderSize) noexcept;
  /// After open() said replay: is it the packet that came before, and not another under its number? Changes `packet`, and
  /// nothing else.
  [[nodiscard]] bool is_repeat(const Header& header, MutableBytes packet, std::size_t head = kHeaderSize) noexcept;
  /// The long header that a compact one for this key stands for, by what was verified so far.
  [[nodiscard]] Header header_of(const CompactHeader& compact) const noexcept;
  [[nodiscard]] KeyEnd end() const noexcept {
    return used_twice_                                ? KeyEnd::used_twice
           : used_.failed_tags >= limits_.failed_tags ? KeyEnd::forgeries
           : used_.packets >= limits_.packets         ? KeyEnd::spent
                                                      : KeyEnd::none;
  }
  [[nodiscard]] const SessionId& session_id() const noexcept { return id_; }
  [[nodiscard]] std::uint8_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::uint64_t next_expected() const noexcept { return window_.next_expected(); }

 private:
  [[nodiscard]] Aead::Open decrypt(const Header& header, MutableBytes packet, std::size_t head) noexcept;
  void judge_repeat(const Header& header, MutableBytes packet, std::size_t head) noexcept;

  SessionId id_;
  std::uint8_t epoch_;
  ByteArray<4> ids_;
  bool bundles_;
  KeyLimits limits_, used_{0, 0};
  ReplayWindow window_;
  std::vector<std::uint16_t> tags_;  // of the packets in the window, their last two bytes
  bool used_twice_ = false;
  std::unique_ptr<Aead> aead_;
};

}  // namespace pqcmav
