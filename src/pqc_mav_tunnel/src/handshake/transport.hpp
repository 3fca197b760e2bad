// SPDX-License-Identifier: Apache-2.0
// One attempt's way of carrying handshake messages over datagrams that get lost: fragments, acknowledgements,
// time-outs, window, parity, copies (docs/protocol.md section 5). No socket, no clock: datagrams and times in,
// datagrams and the next time out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bytes.hpp"
#include "constants.hpp"
#include "handshake/handshake_datagram.hpp"  // HandshakeSide, AttemptId, FragmentKeys, Cookie
#include "handshake/handshake_frames.hpp"    // FrameLimits, MessageType
#include "handshake/known_link.hpp"

namespace pqcmav {

/// Which of the attempt's addresses: 0 is where its first datagram came from, the others answered a Retry. A drone and an
/// attempt inside a session have only path 0. The caller maps addresses to paths.
using PathIndex = std::uint8_t;

struct TransportOptions {
  HandshakeSide side = HandshakeSide::drone;
  AttemptId attempt{};
  bool in_session = false;              // frames travel in control TLV 32: no tag, padding, cookie or three-times rule
  std::uint32_t first_packet = 0;       // gcs: random below 2^31
  std::uint16_t datagram_limit = 1200;  // 548 where one end's max_datagram says so
  KnownLink known;                      // in_session only
  std::uint64_t wire_ns = 0;            // over a serial line: how long a full datagram takes there
};

class Transport {
 public:
  static constexpr std::size_t kPaths = 4;
  /// An address that is none of the attempt's: what comes from there counts, and only M3 is answered there.
  static constexpr PathIndex kElsewhere = kPaths;
  /// `keys` is not used inside a session.
  Transport(const TransportOptions& options, FragmentKeys keys);
  ~Transport();
  Transport(Transport&&) noexcept;

  // --- What is to be sent -------------------------------------------------------------------------------------------
  /// Drone, first contact: M1 by rule 2. `need` is the longest M2 of the suite + 30 per fragment (rule 2); `proven`: M1 carries a return proof.
  void start_hello(Bytes m1, std::size_t need, bool proven, std::uint64_t now);
  /// Drone: a Retry came whose tag verified. M1 goes out with the cookie, unpadded: twice at once, or once when M2 has
  /// begun to arrive; nothing when all of it is here, or when the last one was answered less than 5 ms ago, with the same cookie 50 ms.
  void set_cookie(const Cookie& cookie, std::uint64_t now);
  /// Any other message; it replaces the one before it, which the peer has (its answer came) or gave up.
  /// Frame = whole message frame `u32 length | u8 type | body`; its type is the message number.
  void start(Bytes frame, std::uint64_t now);

  /// Drone, after an authenticated Reject 5 (busy): no M1 before `until`, then two copies per time-out as ever.
  void hold_hello(std::uint64_t until) noexcept;

  // --- What comes -----------------------------------------------------------------------------------------------------
  /// Messages that may come next, by their limits (body lengths). Fragments of other messages are repeated (if of a former one) or malformed.
  void expect(std::vector<FrameLimits> allowed);
  enum class Took : std::uint8_t { taken, repeated, malformed };
  /// A datagram of this attempt whose tag the caller verified (handshake_datagram.hpp): whole, header and tag included. In a session:
  /// the value of TLV 32, `attempt packet frames`. `path`: where it came from. A datagram is counted for rule 3 here.
  Took on_datagram(ByteView datagram, PathIndex path, std::uint64_t now);
  /// The data plane makes room (section 7, Yield): from now on the window is that of a wide link, so that one round trip
  /// through the queue carries all of a short message, and no time-out is longer than a second.
  void widen() noexcept;
  /// The message that became complete, once: the whole frame. Its limits were checked, its content was not.
  std::optional<Bytes> take_message();

  // --- Output and time ------------------------------------------------------------------------------------------------
  struct Outgoing {
    PathIndex path = 0;
    Bytes datagram;  // complete with tag; in a session the value of TLV 32
  };
  /// Call until nullopt after every other call and whenever deadline() has come.
  std::optional<Outgoing> poll(std::uint64_t now);
  /// When poll() is due next (monotonic ns); kNever when nothing is.
  [[nodiscard]] std::uint64_t deadline() const noexcept;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  // --- What it knows ----------------------------------------------------------------------------------------------------
  /// gcs: this path answered a Retry.
  void answered_by(PathIndex path) noexcept;
  /// gcs: an address that is none of the attempt's did: its path, with `used` of them taken, perhaps in place of another.
  PathIndex join(std::size_t used);
  /// gcs: a return proof speaks for path 0: it may get one window before it answers.
  void lift() noexcept;
  [[nodiscard]] bool has_answered(PathIndex path) const noexcept;
  [[nodiscard]] bool answered() const noexcept;  // any of them
  /// The last progress: a new fragment, a new ACK bit, an ACK of a complete message (monotonic ns); the start at first.
  [[nodiscard]] std::uint64_t last_progress() const noexcept;
  /// True once a fragment of an expected message has come (a drone: M2 began to arrive).
  [[nodiscard]] bool arriving() const noexcept;
  /// Time-outs, ACKs repeated in vain, and fragments that came again since the last progress.
  [[nodiscard]] std::uint32_t stalls() const noexcept;
  /// Losses or time-outs were seen in this attempt (rule 10).
  [[nodiscard]] bool lossy() const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> srtt() const noexcept;  // ns
  /// The least round trip of a full datagram that this attempt has measured (ns): for the next one (SessionFigures).
  [[nodiscard]] std::optional<std::uint64_t> full_round_trip() const noexcept;
  struct Counts {
    std::uint64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0, repeated_fragments = 0, lost = 0,
                  timeouts = 0, rebuilt = 0;
  };
  [[nodiscard]] const Counts& counts() const noexcept;
  /// After the handshake is done: forget the message being sent but keep answering. gcs: M3 that comes again is answered with M4 again;
  /// `last` is M4's frame. Everything else is wiped.
  void linger(Bytes last);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pqcmav
