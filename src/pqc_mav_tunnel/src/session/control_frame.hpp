// SPDX-License-Identifier: Apache-2.0
// Control frames: TLVs inside the encrypted channel (docs/protocol.md section 6). Written into and read from caller
// memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "bytes.hpp"
#include "constants.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

struct Probe {
  std::uint32_t id;
  std::uint64_t t1;  // ns, sender's monotonic clock
};
struct ProbeReply {
  std::uint32_t id;
  std::uint64_t t1, t2, t3;  // ns
};
struct Switched {
  std::uint8_t epoch;
};
struct RekeyRequest {
  std::uint32_t request_id;
  std::string_view suite;  // empty = same; points into the parsed frame
  std::string_view reason;
  bool ratchet = false;
  std::uint32_t pin_s = 0;  // of a PIN before it, in the same frame; not written here
};
struct Close {
  std::uint8_t reason;  // 1 shutdown, 2 session limit, 3 moved to another ground station
};
struct Keepalive {};
struct RekeyResult {
  std::uint32_t request_id;
  bool ok;
  std::uint8_t epoch;
  std::uint32_t duration_us;
  std::string_view text;
  std::uint32_t pin_s = 0;  // as in RekeyRequest
};
/// A handshake datagram inside the session: attempt[8], packet u32, frames. The transport reads it.
struct HandshakePart {
  ByteView value;  // points into the parsed frame
};
/// What a drone needs to make a return proof in its next M1.
struct ReturnGrant {
  std::uint32_t serial;
  ByteArray<8> address_tag;
  ByteView return_key;  // kReturnKeySize bytes; a secret, therefore not copied: points into the parsed frame
};
struct RestartToken {
  ByteArray<kRestartTokenSize> token;
};
/// The highest verified sequence of the session and epoch whose keys carry this frame.
struct Seen {
  std::uint64_t highest;
};
struct PathChallenge {
  ByteArray<8> random;
};
/// gcs: so many packets under the key that carries this frame were PATH_CHALLENGEs. One that went elsewhere than to the
/// drone is not lost.
struct Aside {
  std::uint64_t count;
};
inline constexpr std::uint8_t kNoPath = 0xff;
struct PathResponse {
  ByteArray<8> random;          // the challenge's
  std::uint8_t path = kNoPath;  // with feature kPaths: by which of the drone's paths that came
};
/// drone: what goes to it by which of its paths. The higher serial is the newer word.
struct PathsTold {
  std::uint32_t serial;
  std::uint8_t main;    // everything
  std::uint8_t others;  // what goes by several: a bit for each path
  bool again;           // that goes a second time, a moment later
  bool only_commands;   // the main path carries nothing else than what goes by several
  friend bool operator==(const PathsTold&, const PathsTold&) = default;
};
/// What the drone takes this station for. The higher term is the newer word.
enum class StationRole : std::uint8_t { none, active, standby };
struct RoleTold {
  StationRole role;
  std::uint32_t term;
};
/// The highest term that a gcs knows of this drone.
struct TermTold {
  std::uint32_t term;
};
/// A TLV that is repeated until this answer has arrived.
struct Got {
  std::uint8_t type;
  ByteArray<4> check;  // the first bytes of SHA-256 over its value
  friend bool operator==(const Got&, const Got&) = default;
};
/// For how long the suite of the request or result that follows is kept.
struct Pin {
  std::uint32_t request_id, for_s;
};
/// What came of the sender's packets, for it to find what the link carries.
struct Arrived {
  std::uint64_t highest;  // verified sequence of the session and epoch whose keys carry this frame
  std::uint64_t at;       // when that came, ns
  std::uint64_t bytes;    // of all that were verified, 28 for IP and UDP with each
};
/// What the sender's detector says, and at a gcs that of others whom it concerns.
struct AlarmTold {
  std::uint8_t level;     // 0 to 2 (Alarm)
  std::string_view kind;  // points into the parsed frame
};
/// In the order of their types (control_frame.cpp).
using Control = std::variant<Probe, ProbeReply, LinkReport, Switched, RekeyRequest, Close, Keepalive, RekeyResult,
                             HandshakePart, ReturnGrant, RestartToken, Seen, PathChallenge, PathResponse, RoleTold,
                             TermTold, Got, Aside, Pin, Arrived, PathsTold, AlarmTold>;

inline constexpr std::size_t kControlsPerFrame = 16;
inline constexpr std::size_t kTlvHeader = 3;  // type u8, length u16
/// So that one handshake part fills the largest handshake datagram, 1,200 bytes.
inline constexpr std::size_t kControlFrameMax = 1200 - kOverhead;
inline constexpr std::size_t kHandshakePartHeader = 12;  // attempt, packet

/// The TLVs of one frame in fixed memory, in order; unknown types are skipped.
struct ControlList {
  std::array<Control, kControlsPerFrame> items;
  std::size_t count = 0;
};
/// False when the content is unusable as a whole (empty, a length that does not fit, more than kControlsPerFrame).
/// Nothing may then be acted on.
bool parse_controls(ByteView content, ControlList& out) noexcept;
/// Appends one TLV at `out[used...]`; returns the new fill, or nullopt without room or when a string is too long. No
/// allocation.
std::optional<std::size_t> append_control(MutableBytes out, std::size_t used, const Control& control) noexcept;
/// The content of a frame that has one message of at most 32 bytes, which is good.
class OneControl {
 public:
  explicit OneControl(const Control& control) noexcept : size_(*append_control(bytes_, 0, control)) {}
  operator ByteView() const noexcept { return ByteView(bytes_).first(size_); }  // NOLINT: as which it is sent

 private:
  ByteArray<32> bytes_{};
  std::size_t size_;
};
/// The GOT that answers `control`, for its receiver to send and for its sender to compare; nullopt for a type that is
/// not acknowledged.
std::optional<Got> got_for(const Control& control);

}  // namespace pqcmav
