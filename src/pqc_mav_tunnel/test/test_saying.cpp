// SPDX-License-Identifier: Apache-2.0
#include "console/saying.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

std::string said(const Event& event, AttemptLog& attempts) {
  const auto out = said_of(event, attempts, AttemptLog::Clock::now());
  return out ? std::string(to_string(out->level)) + ' ' + out->text : "";
}

TEST(Saying, EachKindOfEventIsOneSentence) {
  AttemptLog attempts;
  HandshakeEvent event;
  event.ok = true;
  event.suite = "cs-mlkem768-aesgcm-mldsa65";
  event.epoch = 3;
  event.peer = "192.0.2.1:46011";
  event.duration_ns = 12'340'000;
  EXPECT_EQ(said({1, "d1", event}, attempts),
            "info d1: handshake with 192.0.2.1:46011 took 12.3 ms, ML-768-AG-MD-65 (pure), epoch 3");
  event.hybrid = true;
  event.kind = HandshakeKind::ratchet;
  EXPECT_EQ(said({1, "d1", event}, attempts),
            "info d1: ratchet with 192.0.2.1:46011 took 12.3 ms, ML-768-AG-MD-65, epoch 3");
  event.ok = false;
  event.kind = HandshakeKind::rekey;
  event.reason = "No\nanswer came.";
  EXPECT_EQ(said({1, "d1", event}, attempts), "warning d1: rekey failed: No\\nanswer came.") << "one line";
  EXPECT_EQ(said({1, "d1", StateEvent{LinkState::down, LinkState::up, ""}}, attempts), "info d1: DOWN -> UP");
  EXPECT_EQ(said({1, "d1", StateEvent{LinkState::up, LinkState::down, "closed"}}, attempts),
            "info d1: UP -> DOWN (closed)");
  EXPECT_EQ(said({1, "", LogEvent{LogLevel::error, "It broke."}}, attempts), "error It broke.");
}

TEST(Saying, WhatWasSaidIsNotSaidAgain) {
  AttemptLog attempts;
  const Event warning{1, "", LogEvent{LogLevel::warning, "No answer yet."}};
  EXPECT_EQ(said(warning, attempts), "warning No answer yet.");
  EXPECT_EQ(said(warning, attempts), "");
}

}  // namespace
}  // namespace pqcmav
