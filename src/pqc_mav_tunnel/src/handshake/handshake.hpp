// SPDX-License-Identifier: Apache-2.0
// The handshake without sockets: bytes and time in, bytes and results out (docs/protocol.md section 4).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bytes.hpp"
#include "constants.hpp"
#include "crypto/kdf.hpp"
#include "crypto/oqs.hpp"
#include "crypto/secret.hpp"
#include "pqc_mav_tunnel/handshake_outcome.hpp"
#include "pqc_mav_tunnel/suites.hpp"
#include "session/frame.hpp"

namespace pqcmav {

enum class Reject : std::uint8_t {
  suite_unknown = 1,
  suite_not_allowed,
  algorithm_unavailable,
  epoch,
  busy,
  session_unknown
};
std::string_view to_string(Reject code) noexcept;

enum class HandshakeStatus { working, done, failed };

/// What one step gives. `send` must go out even when the status is failed (a Reject); then the connection is closed.
struct HandshakeStep {
  HandshakeStatus status = HandshakeStatus::working;
  Bytes send;
};

/// Where cookies, nonces, session ids and X25519 scalars come from: the operating system unless a test vector fixes it.
/// KEM and signature randomness stays liboqs' own.
using RandomSource = std::function<void(MutableBytes)>;

struct InitiatorParams {
  const Suite* suite = nullptr;
  std::string drone_id;
  bool hybrid = true;
  Psk psk;
  Bytes gcs_public_key;                   // of the suite's signature algorithm
  std::optional<SecretBytes> own_secret;  // sign ClientFinish when present
  SessionId prev_session{};               // zero = first
  std::uint8_t epoch = 0;
  RandomSource random = random_bytes;
};

class HandshakeInitiator {
 public:
  explicit HandshakeInitiator(InitiatorParams params);
  ~HandshakeInitiator();
  /// Feeds received bytes (any split). `now_ns` is monotonic. After done or failed it must not be called again.
  HandshakeStep on_data(ByteView received, std::uint64_t now_ns);
  /// Does ahead what needs no answer: to be called, or not, while the gcs works on its ServerHello.
  void prepare() noexcept;
  [[nodiscard]] HandshakeError error() const noexcept;
  [[nodiscard]] std::uint8_t reject_code() const noexcept;
  [[nodiscard]] const HandshakeTimes& times() const noexcept;
  [[nodiscard]] SessionKeys take_keys();  // once, after done

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What the responder must know of a drone to answer it; looked up by id after the ClientHello parsed.
struct DroneRecord {
  Psk psk;
  bool require_signature = false;
  bool allow_pure = true;
};

/// A pooled or fresh ephemeral KEM key pair.
struct EphemeralKem {
  KemKeyPair pair;
  bool pooled = false;
};

/// The environment of a responder. Every call happens in on_data of the thread that runs it. Callbacks may throw
/// TunnelError: the handshake fails with `crypto`.
struct ResponderEnv {
  std::function<std::optional<DroneRecord>(std::string_view drone_id)> find_drone;  // pre-gate: must be cheap
  std::function<std::optional<Reject>(std::string_view drone_id, const Suite&, bool hybrid)> check_suite;  // post-gate
  /// Post-gate: prev_session/epoch against what is running; nullopt = fine.
  std::function<std::optional<Reject>(std::string_view drone_id, const SessionId& prev, std::uint8_t epoch)>
      check_session;
  std::function<SecretBytes(const SigInfo&)> gcs_secret;                                        // post-gate
  std::function<std::optional<Bytes>(std::string_view drone_id, const SigInfo&)> drone_public;  // nullopt = none known
  std::function<EphemeralKem(const KemInfo&)> kem_keypair;  // post-gate: pool or fresh
  RandomSource random = random_bytes;
};

class HandshakeResponder {
 public:
  /// The first bytes to send (M0) come from start().
  explicit HandshakeResponder(std::shared_ptr<const ResponderEnv> env);
  ~HandshakeResponder();
  Bytes start(std::uint64_t now_ns);
  /// As for the initiator. It has two halves so that a server can run the cheap one on its accept thread: on_data stops
  /// after a valid gate with status working and gated() true, nothing sent; then go_on() does the expensive work
  /// (keygen, signing) and returns M2 or a Reject.
  HandshakeStep on_data(ByteView received, std::uint64_t now_ns);
  [[nodiscard]] bool gated() const noexcept;  // the gate verified and go_on() is due
  [[nodiscard]] bool past_gate()
      const noexcept;  // the gate verified at some point: failures no longer charge the rate limit
  HandshakeStep go_on(std::uint64_t now_ns);
  /// Instead of go_on(): refuse a gated client (busy).
  HandshakeStep refuse(Reject code);
  [[nodiscard]] HandshakeError error() const noexcept;
  [[nodiscard]] std::uint8_t reject_code() const noexcept;
  [[nodiscard]] const std::string& drone_id() const noexcept;  // "" before the ClientHello parsed
  [[nodiscard]] const Suite* suite() const noexcept;
  [[nodiscard]] const SessionId& prev_session() const noexcept;
  [[nodiscard]] const HandshakeTimes& times() const noexcept;
  /// Once, after done. The step that reports done carries M4 in `send`: the keys must be installed for receiving BEFORE
  /// M4 is sent.
  [[nodiscard]] SessionKeys take_keys();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pqcmav
