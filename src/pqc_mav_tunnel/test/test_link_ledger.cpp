// SPDX-License-Identifier: Apache-2.0
#include "control/link_ledger.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace pqcmav {
namespace {

using namespace std::chrono_literals;

class LinkLedgerTest : public ::testing::Test {
 protected:
  LinkPicture with_session() const {
    LinkPicture picture;
    picture.current = Session::Info{
        &require_suite("cs-mlkem512-aesgcm-mldsa44"), true, false, {1, 2, 3, 4, 5, 6, 7, 0xff}, 3, now_ns()};
    picture.can_send = true;
    return picture;
  }
  std::vector<std::string> changes() {
    std::vector<std::string> out;
    for (const auto& event : events.wait(0ns, 100))
      if (const auto* change = std::get_if<StateEvent>(&event.what))
        out.push_back(std::string(to_string(change->before)) + ">" + std::string(to_string(change->after)) + " " +
                      change->reason);
    return out;
  }
  static HandshakeEvent failure(HandshakeError error, const std::string& reason) {
    HandshakeEvent event;
    event.error = error;
    event.reason = reason;
    return event;
  }
  static HandshakeEvent success(bool rekey) {
    HandshakeEvent event;
    event.ok = true;
    event.kind = rekey ? HandshakeKind::rekey : HandshakeKind::first;
    return event;
  }
  void refresh(const LinkPicture& picture) {
    ledger.refresh([&] { return picture; });
  }
  EventQueue events{LogLevel::debug};
  LinkLedger ledger{"uav1", events};
};

TEST_F(LinkLedgerTest, ReportsEachChangeOnce) {
  refresh(LinkPicture{});
  EXPECT_TRUE(changes().empty()) << "DOWN is where it starts";
  ledger.running(+1, false);
  refresh(LinkPicture{});
  refresh(LinkPicture{});
  ledger.running(-1, false);
  refresh(with_session());
  auto silent = with_session();
  silent.degraded = true;
  silent.heard_silence_ns = 4'200'000'000;
  refresh(silent);
  refresh(with_session());
  ledger.running(+1, true);
  refresh(with_session());
  refresh(silent);  // a rekey does not hide that nothing is heard
  ledger.running(-1, true);
  LinkPicture closed;
  closed.closed_by_peer = true;
  refresh(closed);
  EXPECT_EQ(
      changes(),
      (std::vector<std::string>{
          "DOWN>HANDSHAKING A handshake is running.", "HANDSHAKING>UP Session under ML-512-AG-MD-44, epoch 3.",
          "UP>DEGRADED Nothing heard from the peer for 4 s.", "DEGRADED>UP Session under ML-512-AG-MD-44, epoch 3.",
          "UP>REKEYING A rekey is running alongside the session.",
          "REKEYING>DEGRADED Nothing heard from the peer for 4 s.", "DEGRADED>DOWN The peer closed the session."}));
}

TEST_F(LinkLedgerTest, TheNewestPictureHasTheLastWordWhateverThreadIsLate) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> session{false};
    const auto look = [&] { return session ? with_session() : LinkPicture{}; };
    std::thread late([&] {
      for (int i = 0; i < 5; ++i) ledger.refresh(look);
    });
    session = true;
    ledger.refresh(look);
    late.join();
    std::string last;
    for (const auto& event : events.wait(0ns, 1000))
      if (const auto* change = std::get_if<StateEvent>(&event.what)) last = to_string(change->after);
    ASSERT_EQ(last, "UP") << round;
    refresh(LinkPicture{});
    (void)events.wait(0ns, 1000);
  }
}

TEST_F(LinkLedgerTest, PendingKeysAreAHandshakeUnderWay) {
  LinkPicture picture;
  picture.pending = with_session().current;
  EXPECT_EQ(ledger.status(picture).state, LinkState::handshaking);
  EXPECT_EQ(ledger.status(picture).session_id, "") << "nothing is in use yet";
}

TEST_F(LinkLedgerTest, CountsHandshakesAndKeepsTheLastError) {
  ledger.finished(failure(HandshakeError::timeout, "No answer."));
  ledger.finished(failure(HandshakeError::bad_confirm, "Altered."));
  auto status = ledger.status(LinkPicture{});
  EXPECT_EQ(status.handshakes_failed, 2u);
  EXPECT_EQ(status.last_error, "Altered.");
  ledger.finished(success(false));
  ledger.finished(success(true));
  status = ledger.status(LinkPicture{});
  EXPECT_EQ(status.handshakes_ok, 1u);
  EXPECT_EQ(status.rekeys_ok, 1u);
  EXPECT_EQ(status.last_error, "");
  ledger.finished(failure(HandshakeError::cancelled, "Shut down."));
  status = ledger.status(LinkPicture{});
  EXPECT_EQ(status.handshakes_failed, 2u) << "what was cancelled did not fail";
  EXPECT_EQ(status.last_error, "");
  EXPECT_EQ(events.wait(0ns, 100).size(), 5u) << "each is reported";
}

TEST_F(LinkLedgerTest, AnErrorIsOverWhenTheLinkWorksAgainButARefusedRekeyIsKept) {
  ledger.finished(failure(HandshakeError::timeout, "No answer."));
  refresh(with_session());
  EXPECT_EQ(ledger.status(with_session()).last_error, "");
  ledger.running(+1, true);
  refresh(with_session());
  ledger.running(-1, true);
  ledger.finished(failure(HandshakeError::rejected, "Not allowed."));
  refresh(with_session());
  EXPECT_EQ(ledger.status(with_session()).last_error, "Not allowed.");
}

TEST_F(LinkLedgerTest, OldKeysAreSaidWhateverTheState) {
  auto picture = with_session();
  picture.key_old = true;
  EXPECT_EQ(ledger.status(picture).state, LinkState::up);
  EXPECT_EQ(ledger.status(picture).last_error.find("KEY_OLD: "), 0u);
  EXPECT_EQ(ledger.status(picture).last_error.find("Last failure"), std::string::npos);
  ledger.finished(failure(HandshakeError::timeout, "No answer."));
  const auto text = ledger.status(picture).last_error;
  EXPECT_EQ(text.find("KEY_OLD: "), 0u) << text;
  EXPECT_TRUE(text.ends_with("Last failure: No answer.")) << text;
  picture.key_old = false;
  EXPECT_EQ(ledger.status(picture).last_error, "No answer.");
}

TEST_F(LinkLedgerTest, TheStatusOfASession) {
  auto picture = with_session();
  picture.peer = resolve("127.0.0.1", 9, false, SOCK_DGRAM);
  picture.heard_silence_ns = 1'500'000'000;
  const auto status = ledger.status(picture);
  EXPECT_EQ(status.drone_id, "uav1");
  EXPECT_EQ(status.state, LinkState::up);
  EXPECT_EQ(status.suite, "cs-mlkem512-aesgcm-mldsa44");
  EXPECT_EQ(status.session_id, "01020304050607ff");
  EXPECT_EQ(status.epoch, 3);
  EXPECT_TRUE(status.hybrid);
  EXPECT_EQ(status.peer, "127.0.0.1:9");
  EXPECT_EQ(status.plain_peer, "");
  EXPECT_DOUBLE_EQ(status.silence_s, 1.5);
  EXPECT_GE(status.key_age_s, 0.0);
  EXPECT_LT(status.key_age_s, 60.0);
}

}  // namespace
}  // namespace pqcmav
