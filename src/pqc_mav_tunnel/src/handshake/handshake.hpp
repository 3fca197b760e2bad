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
#include "crypto/kem_sig.hpp"
#include "crypto/secret.hpp"
#include "handshake/handshake_frames.hpp"
#include "pqc_mav_tunnel/families.hpp"
#include "pqc_mav_tunnel/handshake_outcome.hpp"
#include "pqc_mav_tunnel/suites.hpp"
#include "session/frame.hpp"

namespace pqcmav {

enum class Reject : std::uint8_t { suite_unknown = 1, suite_not_allowed, algorithm_unavailable, epoch, busy };
std::string_view to_string(Reject code) noexcept;

enum class HandshakeStatus { working, done, failed };

/// What one step gives: a message to send, even when the status is failed (a Reject).
struct HandshakeStep {
  HandshakeStatus status = HandshakeStatus::working;
  Bytes send;
  /// Drone: the gcs is busy. The same M1 may be sent again after so many milliseconds; an M2 is still welcome.
  std::optional<std::uint16_t> busy_ms;
};

/// Where nonces, session ids and X25519 scalars come from: the operating system unless a test vector fixes it.
/// KEM and signature randomness stays liboqs' own.
using RandomSource = std::function<void(MutableBytes)>;

/// What a gcs handed out in a session, so that a drone is known when it comes back (docs/protocol.md section 6).
struct ReturnTicket {
  ByteArray<kReturnProofPrefix> prefix{};  // serial, address_tag
  Secret<32> key;
  [[nodiscard]] ReturnTicket clone() const { return {prefix, key.clone()}; }
};

struct InitiatorParams {
  const Suite* suite = nullptr;
  std::string drone_id, gcs_id{kDefaultGcsId};
  bool hybrid = true;
  Psk psk;                                // the one this gcs holds (psk_of_gcs)
  Bytes gcs_public_key;                   // of the suite's signature algorithm
  std::optional<SecretBytes> own_secret;  // sign ClientFinish when present
  SessionId prev_session{};               // zero = first
  std::uint8_t epoch = 0;
  SecretBytes chain_prev;  // ck of prev_session; empty = first
  std::optional<ReturnTicket> ticket;
  std::uint16_t max_datagram = kDatagramLimit;
  std::uint16_t features = 0;  // that this end would use; with compact headers also where it would receive
  ReceiveIndex own_index;
  bool standby = false;    // the session is to begin as standby; with feature kStations, as the term
  std::uint32_t term = 0;  // under which the drone makes, or has made, its choice of a station
  RandomSource random = random_bytes;
};

class HandshakeInitiator {
 public:
  explicit HandshakeInitiator(InitiatorParams params);
  ~HandshakeInitiator();
  /// M1. Once, before anything else. `now_ns` is monotonic.
  Bytes start(std::uint64_t now_ns);
  /// Feeds received bytes (any split). After done or failed it must not be called again.
  HandshakeStep on_data(ByteView received, std::uint64_t now_ns);
  /// Does ahead what needs no answer: to be called, or not, while the gcs works on its ServerHello.
  void prepare() noexcept;
  /// The messages that may come next.
  [[nodiscard]] const std::vector<FrameLimits>& expecting() const noexcept;
  [[nodiscard]] HandshakeError error() const noexcept;
  [[nodiscard]] std::uint8_t reject_code() const noexcept;
  [[nodiscard]] Families avoided() const noexcept;  // what that refusal says the gcs avoids
  [[nodiscard]] std::string reason() const;         // of a failure, as a sentence
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
  bool sign_where_known = false;  // require it once drone_public knows the key
  bool allow_pure = true;
  std::uint16_t features = 0;  // granted besides those of the gcs
};

/// A pooled or fresh ephemeral KEM key pair.
struct EphemeralKem {
  KemKeyPair pair;
  bool pooled = false;
};

/// The environment of a responder. Every call happens in on_data of the thread that runs it. Callbacks may throw
/// TunnelError: the handshake fails with `crypto`.
struct ResponderEnv {
  std::string gcs_id{kDefaultGcsId};
  std::function<std::optional<DroneRecord>(std::string_view drone_id)> find_drone;  // pre-gate: must be cheap
  std::function<std::optional<Reject>(std::string_view drone_id, const Suite&, bool hybrid)> check_suite;  // post-gate
  std::function<Families()> avoided = {};                 // post-gate: what no keys are made with; empty: nothing
  std::function<SecretBytes(const SigInfo&)> gcs_secret;  // post-gate
  std::function<std::optional<Bytes>(std::string_view drone_id, const SigInfo&)> drone_public;  // nullopt = none known
  std::function<EphemeralKem(const KemInfo&)> kem_keypair;  // post-gate: pool or fresh
  std::uint16_t features = 0;                               // that this gcs grants where they are asked for
  std::function<ReceiveIndex()> receive_index;              // with compact headers; an empty one: none is free
  std::function<bool(const SessionId&)> takes_id = {};      // may a session have this id? empty: any
  RandomSource random = random_bytes;
};

/// An id for a new session. Throws TunnelError(crypto) when the source gives none that may be used.
SessionId fresh_session_id(const RandomSource& random, const std::function<bool(const SessionId&)>& takes_id);

/// The session in which a rekey runs: its M1 must name it, and its chain secret goes into the new keys.
struct RunningSession {
  SessionId id{};
  std::uint8_t epoch = 0;
  SecretBytes chain;
  // What a ratchet takes over from it, and is judged by (docs/protocol.md section 7).
  const Suite* suite = nullptr;
  bool hybrid = false, drone_signed = false;
  std::uint16_t features = 0;
  std::uint8_t ratchets = 0;
  std::uint64_t full_boot_ns = 0;
};

/// The gcs' side of an attempt, whatever its messages, as a worker drives it: a whole message in, its answer out.
class Responder {
 public:
  Responder() = default;
  virtual ~Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  /// With all that it costs.
  virtual HandshakeStep take(ByteView message, std::uint64_t now_ns) = 0;
  [[nodiscard]] virtual const std::vector<FrameLimits>& expecting() const noexcept = 0;
  [[nodiscard]] virtual HandshakeError error() const noexcept = 0;
  [[nodiscard]] virtual std::uint8_t reject_code() const noexcept = 0;
  [[nodiscard]] virtual const Suite* suite() const noexcept = 0;
  [[nodiscard]] virtual const SessionId& session_id() const noexcept = 0;  // of the session on offer; zero before
  [[nodiscard]] virtual HandshakeKind kind() const noexcept = 0;
  [[nodiscard]] virtual std::string reason() const = 0;  // of a failure, as a sentence
  [[nodiscard]] virtual const HandshakeTimes& times() const noexcept = 0;
  [[nodiscard]] virtual SessionKeys take_keys() = 0;  // once, after done
};

class HandshakeResponder final : public Responder {
 public:
  /// `session`: the one whose frames carry this handshake; none for a first one.
  explicit HandshakeResponder(std::shared_ptr<const ResponderEnv> env, std::optional<RunningSession> session = {});
  ~HandshakeResponder() override;
  /// As for the initiator; M1 comes first. It has two halves so that a server can run the cheap one before it takes on
  /// anything: on_data stops after a valid gate with status working and gated() true, nothing sent; then go_on() does
  /// the expensive work (keygen, signing) and returns M2 or a Reject.
  HandshakeStep on_data(ByteView received, std::uint64_t now_ns);
  [[nodiscard]] bool gated() const noexcept;  // the gate verified and go_on() is due
  HandshakeStep go_on(std::uint64_t now_ns);
  HandshakeStep take(ByteView message, std::uint64_t now_ns) override;
  /// Instead of go_on(): refuse a gated client. `retry_ms` is what a busy gcs asks it to wait.
  HandshakeStep refuse(Reject code, std::uint16_t retry_ms = 0);
  [[nodiscard]] const std::vector<FrameLimits>& expecting() const noexcept override;
  [[nodiscard]] HandshakeError error() const noexcept override;
  [[nodiscard]] std::uint8_t reject_code() const noexcept override;
  [[nodiscard]] const Suite* suite() const noexcept override;
  [[nodiscard]] const SessionId& session_id() const noexcept override;  // zero before M2
  [[nodiscard]] HandshakeKind kind() const noexcept override;
  [[nodiscard]] std::string reason() const override;
  [[nodiscard]] const HandshakeTimes& times() const noexcept override;
  /// Once, after done. The step that reports done carries M4 in `send`: the keys must be installed for receiving BEFORE
  /// M4 is sent.
  [[nodiscard]] SessionKeys take_keys() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pqcmav
