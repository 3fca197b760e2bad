// SPDX-License-Identifier: Apache-2.0
// The data-plane frame and its two ends: a SendKey that seals and a ReceiveKey that opens, both in place.
#pragma once

#include <memory>
#include <optional>

#include "constants.hpp"
#include "crypto/aead.hpp"
#include "crypto/secret.hpp"
#include "pqc_mav_tunnel/status.hpp"
#include "pqc_mav_tunnel/suites.hpp"
#include "session/replay_window.hpp"

namespace pqcmav {

enum class FrameType : std::uint8_t { data = 0, control = 1 };

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

/// What a completed handshake gives: the two directional keys of one (session, epoch).
struct SessionKeys {
  const Suite* suite = nullptr;
  bool hybrid = false;
  bool drone_signed = false;
  SessionId session_id{};
  std::uint8_t epoch = 0;
  Secret<32> k_d2g, k_g2d;
  Secret<32> chain;  // ck: a rekey inside this session is bound to it
};

/// Seals packets of one key; owns the only sequence counter of that key, so no (key, epoch, sequence) is used twice.
/// One thread.
class SendKey {
 public:
  SendKey(const Suite& suite, const SessionId& id, std::uint8_t epoch, std::span<const std::uint8_t, 32> key);
  /// `packet` holds kHeaderSize bytes of room, the payload, kTagSize bytes of room. False when the sequence is
  /// exhausted or the library failed: then nothing may be sent (the sequence is spent all the same).
  bool seal(FrameType type, MutableBytes packet) noexcept;
  /// Leaves sequence numbers out; only ever forwards, so nothing can be used twice.
  void skip_to(std::uint64_t sequence) noexcept;
  [[nodiscard]] std::uint64_t sealed() const noexcept { return next_; }
  [[nodiscard]] const SessionId& session_id() const noexcept { return header_.session_id; }
  [[nodiscard]] std::uint8_t epoch() const noexcept { return header_.epoch; }

 private:
  Header header_;
  std::uint64_t next_ = 0;
  std::unique_ptr<Aead> aead_;
};

/// Opens packets of one key, with its replay window. One thread.
class ReceiveKey {
 public:
  ReceiveKey(const Suite& suite, const SessionId& id, std::uint8_t epoch, std::span<const std::uint8_t, 32> key,
             std::size_t window_bits = kWindowBits);
  struct Opened {
    std::optional<Drop> drop;  // nullopt: the packet is genuine and new
    FrameType type = FrameType::data;
    MutableBytes payload;  // inside `packet`, after decryption
    bool newest = false;   // highest sequence so far: its source is the peer's address
  };
  /// `header` is the parsed head of `packet`; session and epoch were looked up by the caller. Checks ids, window, tag;
  /// only then marks the window.
  Opened open(const Header& header, MutableBytes packet) noexcept;
  [[nodiscard]] const SessionId& session_id() const noexcept { return id_; }
  [[nodiscard]] std::uint8_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::uint64_t next_expected() const noexcept { return window_.next_expected(); }

 private:
  SessionId id_;
  std::uint8_t epoch_;
  ByteArray<4> ids_;
  ReplayWindow window_;
  std::unique_ptr<Aead> aead_;
};

}  // namespace pqcmav
