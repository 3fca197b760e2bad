// SPDX-License-Identifier: Apache-2.0
// Which refusals a drone believes, and what each of them leaves of its attempt.
#include "handshake_fixture.hpp"

namespace pqcmav::test {
namespace {

TEST(Rejects, ABusyStationIsAskedAgainWithTheSameHello) {
  const Scene scene;
  HandshakeInitiator drone(drone_params(scene));
  const auto m1 = drone.start(0);
  for (const std::uint16_t retry_ms : {100, 65535}) {
    HandshakeResponder busy(gcs_env(scene));
    (void)busy.on_data(m1, 0);
    ASSERT_TRUE(busy.gated());
    const auto step = drone.on_data(busy.refuse(Reject::busy, retry_ms).send, 0);
    EXPECT_EQ(step.status, HandshakeStatus::working);
    EXPECT_EQ(step.busy_ms, retry_ms);
    EXPECT_TRUE(step.send.empty());
  }
  HandshakeResponder gcs(gcs_env(scene));
  (void)gcs.on_data(m1, 0);
  const auto m3 = drone.on_data(gcs.go_on(0).send, 0);
  EXPECT_FALSE(m3.busy_ms);
  const auto m4 = gcs.on_data(m3.send, 0);
  ASSERT_EQ(m4.status, HandshakeStatus::done);
  ASSERT_EQ(drone.on_data(m4.send, 0).status, HandshakeStatus::done);
  EXPECT_TRUE(same(drone.take_keys(), gcs.take_keys()));
}

TEST(Rejects, AHalfReadRefusalDoesNotSpoilTheHashOfTheAnswer) {
  const Scene scene;
  HandshakeInitiator drone(drone_params(scene));
  const auto m1 = drone.start(0);
  HandshakeResponder busy(gcs_env(scene)), gcs(gcs_env(scene));
  (void)busy.on_data(m1, 0);
  (void)gcs.on_data(m1, 0);
  EXPECT_EQ(feed(drone, busy.refuse(Reject::busy, 500).send, 1, 0).busy_ms, 500);
  const auto m4 = gcs.on_data(feed(drone, gcs.go_on(0).send, 7, 0).send, 0);
  ASSERT_EQ(m4.status, HandshakeStatus::done);
  EXPECT_EQ(drone.on_data(m4.send, 0).status, HandshakeStatus::done);
}

/// Message 2 or 4 replaced by a refusal made of M1.
Outcome with_refusal(std::size_t message, const std::function<Bytes(const Bytes& m1)>& refusal) {
  Bytes m1;
  return run(Scene{}, [&](std::size_t index, Bytes& frame) {
    if (index == 1) m1 = frame;
    if (index == message) frame = refusal(m1);
  });
}

TEST(Rejects, ARejectIsBelievedOnlyInPlaceOfTheServerHello) {
  const auto genuine = [](const Bytes& m1) { return refusal_of(m1, Reject::suite_unknown); };
  const auto good = with_refusal(2, genuine);
  EXPECT_EQ(good.drone_error, HandshakeError::rejected);
  EXPECT_EQ(good.drone_code, static_cast<std::uint8_t>(Reject::suite_unknown));
  EXPECT_EQ(with_refusal(4, genuine).drone_error, HandshakeError::bad_frame);
  const auto raw = [](Bytes bytes) { return with_refusal(2, [&](const Bytes&) { return bytes; }).drone_error; };
  EXPECT_EQ(raw({0, 0, 0, 1, 9, 2}), HandshakeError::bad_frame) << "protocol 2's refusal, five bytes and a type";
  for (const int code : {0, 6, 255}) {
    Bytes frame{0, 0, 0, 35, 9, static_cast<std::uint8_t>(code)};
    frame.resize(5 + 35);
    EXPECT_EQ(raw(frame), HandshakeError::malformed) << code;
  }
}

TEST(Rejects, ARejectThatAnybodyCouldHaveSentNamesNoCode) {
  const auto expect_disbelief = [](const std::function<Bytes(const Bytes&)>& refusal, const char* what) {
    const auto out = with_refusal(2, refusal);
    EXPECT_EQ(out.drone_error, HandshakeError::bad_reject) << what;
    EXPECT_EQ(out.drone_code, 0) << what;
    EXPECT_FALSE(out.drone_keys) << what;
  };
  for (int code = 1; code <= 5; ++code) {
    const auto reject = static_cast<Reject>(code);
    expect_disbelief([&](const Bytes&) { return encode_reject({reject, 0, {}}); }, "no MAC");
    expect_disbelief([&](const Bytes& m1) { return refusal_of(m1, reject, 0, 2); }, "another PSK");
    expect_disbelief(
        [&](const Bytes& m1) {
          auto other = m1;
          other[kFrameHeaderSize + 20] ^= 1;
          return refusal_of(other, reject);
        },
        "of another M1");
    // Every bit of code, time and MAC is covered.
    for (std::size_t at = kFrameHeaderSize; at < kFrameHeaderSize + 35; ++at) {
      const auto out = with_refusal(2, [&](const Bytes& m1) {
        auto frame = refusal_of(m1, reject, 500);
        frame[at] ^= static_cast<std::uint8_t>(1 << (at % 8));
        return frame;
      });
      ASSERT_TRUE(out.drone_error == HandshakeError::bad_reject || out.drone_error == HandshakeError::malformed) << at;
      ASSERT_EQ(out.drone_code, 0);
    }
  }
}

TEST(Rejects, OnlyBusyKeepsTheAttempt) {
  for (int code = 1; code <= 5; ++code) {
    HandshakeInitiator drone(drone_params(Scene{}));
    const auto m1 = drone.start(0);
    const auto step = drone.on_data(refusal_of(m1, static_cast<Reject>(code), 300), 0);
    const bool busy = static_cast<Reject>(code) == Reject::busy;
    EXPECT_EQ(step.status, busy ? HandshakeStatus::working : HandshakeStatus::failed) << code;
    EXPECT_EQ(step.busy_ms.has_value(), busy) << code;
    EXPECT_EQ(drone.error(), busy ? HandshakeError::none : HandshakeError::rejected) << code;
  }
}

}  // namespace
}  // namespace pqcmav::test
