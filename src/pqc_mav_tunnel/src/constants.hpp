// SPDX-License-Identifier: Apache-2.0
// Every number of the wire protocol, version 3 (docs/protocol.md). A protocol value has its home here and nowhere else.
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
inline constexpr std::uint8_t kVersion = 3;
inline constexpr std::uint64_t kSequenceLimit = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kForcedRekeyPackets = std::uint64_t{1} << 28;
inline constexpr std::size_t kDefaultMaxPayload = 1432;
inline constexpr std::uint32_t kRelayKbit = 1000;
inline constexpr std::size_t kMaxDatagram = 65507;  // largest UDP payload over IPv4
// Over a serial line: the longest datagram; bundles of which one, with a compact header, is one packet of a radio.
inline constexpr std::size_t kLineDatagramMost = 1472, kRadioBundleBytes = 203;
inline constexpr std::uint64_t kRadioBundleMs = 20;
inline constexpr double kRadioReconnectS = 5.0;
// A drone with several paths: how many, and of the one in use between two PROBEs and without an answer until it is dead;
// by a radio its few packets are the dearer ones.
inline constexpr std::size_t kPathsMost = 4;
inline constexpr milliseconds kPathProbe{250}, kPathSilent{750}, kRadioPathProbe{500}, kRadioPathSilent{1250};
// By one for commands alone each byte is dear; so it is, by a backup, while another path lives.
inline constexpr seconds kCommandsPathProbe{5}, kCommandsPathSilent{12}, kPathIdle{5}, kBackupPathIdle{60};
// So long a first handshake waits for any answer by one path before it tries the next one.
inline constexpr seconds kPathAttempt{1}, kRadioPathAttempt{3};
inline constexpr std::size_t kWindowBits = 1024;
// The bounds of the AEADs: packets that one key carries in a direction, and forged ones (RFC 9001 section 6.6).
inline constexpr std::uint64_t kKeyPacketsMost = std::uint64_t{1} << 29, kFailedTagsMost = std::uint64_t{1} << 36;
inline constexpr std::size_t kWindowBitsMin = 64;
inline constexpr std::size_t kWindowBitsMax = 8192;

// Section 10: compact headers and bundles.
inline constexpr std::uint64_t kCompactLag = 16'384;  // of the newest sequence behind what the peer has seen
inline constexpr std::size_t kDataThreadsMax = 64;
inline constexpr std::size_t kGcsIndices = 65'536, kDroneIndices = 256;
inline constexpr unsigned kBundleWaitMostMs = 200, kBundleBytes = 400;
inline constexpr seconds kIndexRest{60};  // at a gcs; not before an index is given out again

// Section 4: messages.
inline constexpr std::string_view kMagic{"PQMAV/3\0", 8};
inline constexpr std::size_t kNonceSize = 32;
inline constexpr std::size_t kPskSize = 32;
inline constexpr std::size_t kKeySize = 32;
inline constexpr std::size_t kHashSize = 32;
inline constexpr std::size_t kX25519Size = 32;
inline constexpr std::size_t kDroneIdMax = 32;  // and a gcs_id's
inline constexpr std::size_t kNameMax = 64;     // suite ids and algorithm names
inline constexpr std::size_t kFrameHeaderSize = 5;
inline constexpr std::size_t kReturnProofPrefix = 12, kReturnProofSize = 28;  // serial, address_tag; and the MAC
inline constexpr std::string_view kDefaultGcsId = "gcs";

// Section 5: handshake datagrams.
inline constexpr std::size_t kAttemptSize = 8;
inline constexpr std::size_t kCookieSize = 32;
inline constexpr std::uint16_t kDatagramLimit = 1200,
                               kDatagramSmall = 548;  // the latter where a path or an end takes no more
inline constexpr seconds kNoProgressLimit{10};
inline constexpr seconds kHandshakeLimit{45};  // outside sessions; and a second more per KiB of M2
inline constexpr seconds kPortPatience{9};  // without any answer to a first handshake; then it asks from another port
inline constexpr seconds kLastAnswerKept{30};  // M4 is sent again on request

// Section 7: ratchets.
inline constexpr std::uint8_t kRatchetsInARow = 8;                  // then a full handshake must come
inline constexpr std::size_t kRatchetFrameMost = 1700;              // R1 and R2
inline constexpr std::uint8_t kRatchetX25519 = 1, kRatchetKem = 2;  // bits of R1's flags: which fresh shares it has

// Section 8: refusals.
inline constexpr milliseconds kBusyRetry{500}, kBusyRetryMin{100}, kBusyRetryMax{10'000};
inline constexpr seconds kQueuePatience{8};  // the longest wait for a worker; below kNoProgressLimit

// Section 7: liveness.
inline constexpr milliseconds kKeepaliveIdle{500};
inline constexpr milliseconds kDegradedAfter{1500};
inline constexpr milliseconds kReconnectAfter{2000};
inline constexpr milliseconds kBackoffFirst{500};
inline constexpr milliseconds kBackoffMax{8000};
inline constexpr seconds kSessionHardLimit{180};
inline constexpr milliseconds kGrace{2000};
inline constexpr seconds kUnusedKeyLimit{30};
// A gcs without a session of the drone sends under new keys before that one confirmed them, behind M4.
inline constexpr milliseconds kEarlyAfter{2}, kEarlyUntil{500};
inline constexpr seconds kTurnMost{10};    // for so long at most, old keys count as hearing the gcs
inline constexpr seconds kGrantAge{3600};  // the unit of a return proof's serial
inline constexpr seconds kRekeyInterval{600}, kKeyLimit{3600}, kOldKeyRetry{30};
inline constexpr seconds kRekeyRetryFirst{5}, kRekeyRetryMost{60};  // after a rekey of its own that failed
inline constexpr std::size_t kLargeServerHello = 16 * 1024;         // a suite with a longer M2 ratchets between rekeys
inline constexpr milliseconds kReportEvery{1000};
inline constexpr milliseconds kProbeAfterReport{500};
inline constexpr milliseconds kProbeSilence{1000};     // from this silence on ...
inline constexpr milliseconds kProbeSilentEvery{250};  // ... the drone probes this often
// On a full link the two, with the answer to the peer's PROBE, take so small a part of what is sent; full is one on which
// a round trip takes so much longer than the least, or from which shaping leaves something out.
inline constexpr milliseconds kUpkeepQueue{200};
inline constexpr std::uint64_t kUpkeepBytes = 260;                    // with all headers
inline constexpr std::uint64_t kUpkeepPart = 150, kUpkeepSeldom = 4;  // ... but every four seconds they come
// Twice the longest pause of an idle link, so that one lost packet is no blackout.
inline constexpr milliseconds kBlackout{2000};

// Not on the wire: silence after which another sender to the plaintext port may take the autopilot's place.
inline constexpr seconds kPlainPeerSilence{2};
// ... and after which one of several senders to an endpoint is forgotten. Ground software sends a heartbeat each second.
inline constexpr seconds kPlainSenderSilence{10};

inline constexpr std::uint16_t kDefaultGcsDataPort = 46011;
inline constexpr std::uint16_t kDefaultDroneDataPort = 46012;

// Section 6: Retry and return proofs.
inline constexpr std::uint8_t kRetryType = 0x53;
inline constexpr std::size_t kRetryTagSize = 16;
inline constexpr std::uint32_t kCookieGoodForS = 30;
inline constexpr std::size_t kReturnKeySize = 32;
inline constexpr std::uint32_t kReturnGoodForHours = 7 * 24;

// Section 9: a restarted ground station.
inline constexpr std::size_t kRestartKeySize = 32;
inline constexpr std::size_t kRestartTokenSize = 16;

// Section 11: shaping.
inline constexpr std::size_t kShapeCommands = 64, kShapeTransfers = 64, kShapeStreams = 64, kShapeRest = 16;
// A list of parameters comes at once and asks for no answers: ArduPilot has 1,313 of them, PX4 884.
inline constexpr std::size_t kShapeParameters = 2'048, kShapeParameterBytes = 128;
inline constexpr unsigned kShapeParameterTurns = 4;  // one of so many turns is the others' while parameters wait
inline constexpr std::size_t kShapeRekey = 16;       // a rekey's own window is smaller where the link is thin
inline constexpr unsigned kShapeTurns = 10;          // one of so many of the streams' turns is the rest's
inline constexpr unsigned kShapeFileTurns = 4;       // while pieces of a file are among it
inline constexpr milliseconds kShapeWaitMost{250};   // for what a stream brings more news than another
inline constexpr milliseconds kShapeCommandWait{
    250};  // then a command leaves although the tunnel's frames took its rate,
inline constexpr std::uint32_t kShapeCommandKbit = 4;  // if there are no more of them than that
inline constexpr unsigned kShapeUsedPercent = 98;      // of the rate
inline constexpr std::uint64_t kShapePauseMs =
    20;  // so much of the rate goes at once after a pause, for timers are late
// A bundle is filled on credit: it may take so much of the rate, and so many bytes on the air where that is less.
inline constexpr std::uint64_t kShapeBundleMs = 40;
inline constexpr std::size_t kShapeBundleLeast = 200;
inline constexpr unsigned kShapeRekeyPart = 4;     // a quarter of that is a rekey's
inline constexpr seconds kShapeCorrectionsAge{1};  // of a satellite receiver
inline constexpr std::uint32_t kShapeKbitMax = 1'000'000;
inline constexpr int kShapeAuto = -1;  // the rate is found
inline constexpr std::size_t kShapeIdsMax = 64;

// Section 13: limits against floods.
inline constexpr std::uint32_t kHandshakeDatagramsPerS = 20'000;

// Section 14: paths.
inline constexpr unsigned kPathChallenges = 6;
inline constexpr milliseconds kPathDecisionMin{500};
inline constexpr std::size_t kPathsLiving = 4, kPathsWaiting = 16;  // get everything; get what their credit allows
inline constexpr std::size_t kPathCreditMost = 65'536;              // bytes
inline constexpr seconds kPathWatch{1};                             // while several live each is challenged so often
inline constexpr unsigned kPathWatchUnanswered = 3;
inline constexpr seconds kPathUnheard{3}, kPathHeardLately{1};
inline constexpr seconds kLateAfter{2};  // and a round trip: a packet that was overtaken by so much is out of date
inline constexpr std::uint64_t kPlannedCopies = 8 * 64;  // a second, times 8: copies by plan that are counted as such
inline constexpr seconds kPathJoinAfter{1};  // since the last one joined: the next one need not wait for a slot's end
inline constexpr milliseconds kPathSlotLeast{25}, kPathSlotMost{75};
inline constexpr std::size_t kPathsPerSlot = 8;
inline constexpr std::size_t kUnvalidatedFactor = 3;  // bytes to an address for each byte from it

// Section 14: ground stations.
inline constexpr std::size_t kPeersMax = 8;
inline constexpr milliseconds kFailoverAfter{2000};
inline constexpr seconds kStandbyKeepalive{5}, kStandbyLost{16}, kStandbyRetry{5};
inline constexpr milliseconds kRestartWait{300};  // or two time-outs
inline constexpr unsigned kRoleRepeats = 20;      // ten times a second
inline constexpr std::uint8_t kCloseMoved = 3, kCloseRemoved = 4;

}  // namespace pqcmav
