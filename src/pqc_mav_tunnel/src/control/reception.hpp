// SPDX-License-Identifier: Apache-2.0
// What a gcs makes of a datagram of a first handshake: which attempt it belongs to and by which of its addresses, or
// whether it may begin one (docs/protocol.md sections 4 to 6 and 13). No socket, no clock, no thread.
//
// A datagram proves who made it, not where it came from nor when. So an attempt sends more than three times what came,
// and a drone has more than one attempt, only where somebody answered what was sent to an address.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "control/admission.hpp"
#include "control/fair_queue.hpp"
#include "control/handshake_attempts.hpp"
#include "handshake/datagram_limits.hpp"
#include "handshake/handshake.hpp"
#include "handshake/restart_key.hpp"
#include "handshake/retry_cookie.hpp"
#include "net/handshake_port.hpp"

namespace pqcmav {

/// What an attempt at a gcs begins with; with `session` inside it.
TransportOptions gcs_transport_options(const AttemptId& name, std::uint16_t max_datagram,
                                       const std::optional<KnownLink>& session = std::nullopt);
/// The body of a whole M1 frame; empty when it is none.
ByteView body_of_m1(ByteView frame) noexcept;
/// May an M2 of this suite be of Classic McEliece's size?
bool is_heavy(const Suite& suite, bool hybrid);

class Reception {
 public:
  struct Host {
    std::shared_ptr<const ResponderEnv> env;
    std::function<std::optional<std::size_t>(std::string_view drone_id)> link_of;
    std::function<bool(const SockAddr& source)> knows;             // is it the address of a session?
    std::function<std::uint64_t(const SockAddr& source)> wire_ns;  // as DataPlane's
    std::function<std::uint64_t(const SigInfo&)> sign_ns;          // what a signature took here lately, 0 when unknown
    std::function<std::optional<std::uint16_t>(Standing)> too_long;  // after how many ms to ask again
    std::function<std::uint32_t()> serial;                           // by the calendar clock
    /// Somebody who knows no PSK, or asks for another ground station.
    std::function<void(const std::string& source, const std::string& drone_id, HandshakeError error)> refused;
  };
  Reception(const AdmissionLimits& limits, const RestartKey& restart, Host host, HandshakeAttempts& attempts);

  struct Busy {
    FragmentKeys keys;
    Bytes m1;
    std::uint16_t retry_ms = 0;
  };
  struct Visit {
    HandshakeDrop outcome = HandshakeDrop::malformed;
    Bytes retry = {};                     // goes back to the source
    HandshakeAttempt* attempt = nullptr;  // whose datagram it is; it came by `path`
    PathIndex path = Transport::kElsewhere;
    std::unique_ptr<HandshakeAttempt> newcomer =
        {};                                  // is to be begun with it; id, responder and times are the caller's
    std::size_t answer = 0;                  // the longest M2 that the newcomer may get, in bytes
    HandshakeAttempt* instead_of = nullptr;  // is to be ended first: the newcomer has its place
    std::optional<Busy> busy = {};           // an M1 that is to be refused
  };
  Visit on_datagram(ByteView datagram, const SockAddr& source, std::uint64_t now, std::uint64_t next_id);

  [[nodiscard]] Admission& admission() noexcept { return admission_; }

 private:
  Visit of_attempt(HandshakeAttempt& attempt, ByteView datagram, const SockAddr& source, std::uint64_t now);
  Visit of_newcomer(ByteView datagram, const AttemptId& name, const SockAddr& source, std::uint64_t now,
                    std::uint64_t next_id);
  [[nodiscard]] HandshakeAttempt* gives_way_to(const AttemptFacts& newcomer, std::size_t link, std::uint64_t now) const;

  Host host_;
  const RestartKey& restart_;
  HandshakeAttempts& attempts_;
  Admission admission_;
  DatagramLimits limits_;
  CookieJar cookies_;
};

}  // namespace pqcmav
