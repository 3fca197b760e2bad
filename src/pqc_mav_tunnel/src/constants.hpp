// SPDX-License-Identifier: Apache-2.0
// Every number of the wire protocol, version 2 (docs/protocol.md). A protocol value has its home here and nowhere else.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pqcmav {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Section 5: data plane.
inline constexpr std::size_t kHeaderSize = 22;
inline constexpr std::size_t kTagSize = 16;
inline constexpr std::size_t kOverhead = kHeaderSize + kTagSize;
inline constexpr std::size_t kSessionIdSize = 8;
inline constexpr std::uint8_t kVersion = 2;
inline constexpr std::uint64_t kSequenceLimit = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kForcedRekeyPackets = std::uint64_t{1} << 28;
inline constexpr std::size_t kDefaultMaxPayload = 1432;
inline constexpr std::size_t kMaxDatagram = 65507;  // largest UDP payload over IPv4
inline constexpr std::size_t kWindowBits = 1024;
inline constexpr std::size_t kWindowBitsMin = 64;
inline constexpr std::size_t kWindowBitsMax = 8192;

// Section 4: handshake.
inline constexpr std::string_view kMagic{"PQMAV/2\0", 8};
inline constexpr std::size_t kCookieSize = 32;
inline constexpr std::size_t kNonceSize = 32;
inline constexpr std::size_t kPskSize = 32;
inline constexpr std::size_t kKeySize = 32;
inline constexpr std::size_t kHashSize = 32;
inline constexpr std::size_t kX25519Size = 32;
inline constexpr std::size_t kDroneIdMax = 32;
inline constexpr std::size_t kNameMax = 64;  // suite ids and algorithm names
inline constexpr std::size_t kFrameHeaderSize = 5;
inline constexpr seconds kHandshakeLimit{45};
inline constexpr seconds kFirstByteLimit{2};
inline constexpr seconds kClientHelloLimit{5};
inline constexpr double kBucketBurst = 5.0;
inline constexpr double kBucketPerSecond = 1.0;
inline constexpr std::size_t kMaxPreGateConnections = 64;

// Section 7: liveness.
inline constexpr milliseconds kKeepaliveIdle{1000};
inline constexpr milliseconds kDegradedAfter{3000};
inline constexpr milliseconds kReconnectAfter{5000};
inline constexpr milliseconds kBackoffFirst{500};
inline constexpr milliseconds kBackoffMax{8000};
inline constexpr seconds kSessionHardLimit{180};
inline constexpr milliseconds kGrace{2000};
inline constexpr seconds kUnusedKeyLimit{30};
inline constexpr seconds kLinkWindow{5};
inline constexpr milliseconds kReportEvery{1000};
inline constexpr milliseconds kProbeAfterReport{500};
// Twice the longest pause of an idle link, so that one lost packet is no blackout.
inline constexpr milliseconds kBlackout{2000};

// Not on the wire: silence after which another sender to the plaintext port may take the autopilot's place.
inline constexpr seconds kPlainPeerSilence{5};

inline constexpr std::uint16_t kDefaultHandshakePort = 46000;
inline constexpr std::uint16_t kDefaultGcsDataPort = 46011;
inline constexpr std::uint16_t kDefaultDroneDataPort = 46012;

}  // namespace pqcmav
