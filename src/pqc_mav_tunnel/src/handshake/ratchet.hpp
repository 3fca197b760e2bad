// SPDX-License-Identifier: Apache-2.0
// The ratchet without sockets: fresh keys out of a running session in two messages (docs/protocol.md section 7).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "handshake/handshake.hpp"

namespace pqcmav {

/// Why a session must not be ratcheted.
enum class RatchetBar : std::uint8_t { none, feature, in_a_row, key_age };
/// A sentence: why, and what to do instead.
std::string_view describe(RatchetBar bar) noexcept;
/// `key_old`: the last full handshake is longer ago than key_limit_s.
RatchetBar bar_of(std::uint16_t features, std::uint8_t ratchets, bool key_old) noexcept;

/// R1's flags in this mode, with fresh shares or, in an emergency, without.
std::uint8_t ratchet_flags(bool hybrid, bool fresh) noexcept;
/// The KEM of fresh shares: ML-KEM of the suite's level, whatever the suite's own KEM.
const KemInfo& ratchet_kem(const Suite& suite) noexcept;

struct RatchetParams {
  RunningSession session;
  Psk psk;
  bool fresh = true;
  bool key_old = false;
  ReceiveIndex own_index;  // with compact headers
  RandomSource random = random_bytes;
};

/// The drone's side.
class RatchetInitiator {
 public:
  /// Throws TunnelError(state) where the session bars it.
  explicit RatchetInitiator(RatchetParams params);
  ~RatchetInitiator();
  /// R1. Once, before anything else.
  Bytes start(std::uint64_t now_ns);
  HandshakeStep on_data(ByteView received, std::uint64_t now_ns);
  [[nodiscard]] const std::vector<FrameLimits>& expecting() const noexcept;
  [[nodiscard]] HandshakeError error() const noexcept;
  [[nodiscard]] std::uint8_t reject_code() const noexcept;
  [[nodiscard]] Families avoided() const noexcept;
  [[nodiscard]] std::string reason() const;
  [[nodiscard]] const HandshakeTimes& times() const noexcept;
  [[nodiscard]] SessionKeys take_keys();  // once, after done

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What a gcs needs to answer one.
struct RatchetTerms {
  RunningSession session;
  Psk psk;
  bool key_old = false;
  std::function<ReceiveIndex()> receive_index;          // with compact headers
  std::function<bool(const SessionId&)> takes_id = {};  // as in ResponderEnv
  RandomSource random = random_bytes;
  Families avoided = {};  // what no keys are made with
};

/// The gcs' side. It is done with its first step, which carries R2: the keys must be installed for receiving BEFORE it
/// is sent, and nothing but a packet under them says that the drone has them, too.
class RatchetResponder final : public Responder {
 public:
  explicit RatchetResponder(RatchetTerms terms);
  ~RatchetResponder() override;
  HandshakeStep take(ByteView message, std::uint64_t now_ns) override;
  [[nodiscard]] const std::vector<FrameLimits>& expecting() const noexcept override;
  [[nodiscard]] HandshakeError error() const noexcept override;
  [[nodiscard]] std::uint8_t reject_code() const noexcept override;
  [[nodiscard]] const Suite* suite() const noexcept override;
  [[nodiscard]] const SessionId& session_id() const noexcept override;
  [[nodiscard]] HandshakeKind kind() const noexcept override;
  [[nodiscard]] std::string reason() const override;
  [[nodiscard]] const HandshakeTimes& times() const noexcept override;
  [[nodiscard]] SessionKeys take_keys() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What is said to a person of a ratchet that failed: as describe(), but for a refusal, which blames no suite.
std::string describe_ratchet(HandshakeError error, std::uint8_t reject_code, bool drone_side);

}  // namespace pqcmav
