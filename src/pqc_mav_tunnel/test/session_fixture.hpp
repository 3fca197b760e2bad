// SPDX-License-Identifier: Apache-2.0
// Session keys out of a seed, and packets sealed and opened by Session objects, with time as a plain number.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "nanoseconds.hpp"
#include "session/session.hpp"

namespace pqcmav::test {

/// The protocol's own timers (docs/protocol.md section 7).
inline constexpr SessionTimers kTimers{1500 * kMs, 180 * kS, 2 * kS, 30 * kS};

/// The keys one handshake gives, twice: one set per end.
struct KeyPairOfEnds {
  SessionKeys drone, gcs;
};

class KeySource {
 public:
  explicit KeySource(std::uint64_t seed) : random_(seed) {}

  KeyPairOfEnds make(std::uint8_t epoch, const Suite& suite = require_suite("cs-mlkem512-aesgcm-mldsa44")) {
    SessionKeys keys;
    keys.suite = &suite;
    fill(keys.session_id);
    keys.session_id[0] |= 1;  // never zero
    keys.epoch = epoch;
    fill(keys.k_d2g.mut());
    fill(keys.k_g2d.mut());
    fill(keys.chain.mut());
    SessionKeys copy;
    copy.suite = keys.suite;
    copy.session_id = keys.session_id;
    copy.epoch = keys.epoch;
    copy.k_d2g = keys.k_d2g.clone();
    copy.k_g2d = keys.k_g2d.clone();
    copy.chain = keys.chain.clone();
    return {std::move(keys), std::move(copy)};
  }

 private:
  void fill(MutableBytes out) {
    for (auto& byte : out) byte = static_cast<std::uint8_t>(random_());
  }
  std::mt19937_64 random_;
};

/// A data packet with `content`, or nullopt when the session has no key to send with.
inline std::optional<Bytes> seal(Session& session, std::uint64_t content, std::uint64_t now,
                                 FrameType type = FrameType::data) {
  Bytes packet(kOverhead + 8);
  store_be(packet.data() + kHeaderSize, content);
  if (!session.seal(type, packet, now)) return std::nullopt;
  return packet;
}

struct Received {
  Session::Opened opened;
  std::uint64_t content = 0;  // of a packet that opened
};

inline Received open(Session& session, Bytes packet, std::uint64_t now) {
  Received out;
  const auto header = parse_header(packet);
  EXPECT_TRUE(header);
  out.opened = session.open(*header, packet, now);
  if (!out.opened.drop && out.opened.payload.size() == 8)
    out.content = load_be<std::uint64_t>(out.opened.payload.data());
  return out;
}

inline std::vector<SessionId> receive_ids(const Session& session) {
  std::vector<SessionId> out;
  session.for_each_receive_id([&](const SessionId& id) { out.push_back(id); });
  return out;
}

inline bool receives(const Session& session, const SessionId& id) {
  for (const auto& each : receive_ids(session))
    if (each == id) return true;
  return false;
}

}  // namespace pqcmav::test
