// SPDX-License-Identifier: Apache-2.0
// Handshakes that someone on the path spoils: every byte of every message flipped, cut off, repeated, replayed,
// answered out of turn. Whatever happens, the two ends never both finish with different views, and the error names what
// was wrong.
#include <set>

#include "handshake/handshake_messages.hpp"
#include "handshake_fixture.hpp"
#include "hex.hpp"

namespace pqcmav::test {
namespace {

Scene scene_of(bool signs) { return {.drone_signs = signs}; }

void expect_no_split(const Outcome& out, const std::string& what) {
  if (out.drone == HandshakeStatus::done) {
    ASSERT_EQ(out.gcs, HandshakeStatus::done) << what << ": the drone finished alone";
    EXPECT_TRUE(same(*out.drone_keys, *out.gcs_keys)) << what;
  }
  if (out.drone == HandshakeStatus::failed) {
    EXPECT_NE(out.drone_error, HandshakeError::none) << what;
  }
  if (out.gcs == HandshakeStatus::failed) {
    EXPECT_NE(out.gcs_error, HandshakeError::none) << what;
  }
}

/// A field of a message and what a flip in it may lead to at the end that receives it. `none` stands for an end that
/// waits for more.
struct Field {
  std::string name;
  std::size_t size;
  std::set<HandshakeError> errors;
};

/// The frames of the light suite, hybrid, in order of their bytes.
std::vector<Field> layout(std::size_t message, bool signs) {
  using E = HandshakeError;
  const auto& suite = light();
  const std::set<E> gate{E::bad_gate};
  const std::set<E> malformed{E::malformed};
  const std::set<E> signature{E::bad_signature};
  // With the drone's signature, what it covers fails there; else at the confirmation.
  const std::set<E> finish{signs ? E::bad_drone_signature : E::bad_confirm};
  switch (message) {
    case 1:
      // A length within the limits makes the frame end early or never.
      return {{"length", 4, {E::bad_frame, E::none}},
              {"type", 1, {E::bad_frame}},
              {"drone_id length", 4, malformed},
              {"drone_id", 4, {E::unknown_drone, E::malformed}},
              {"gcs_id length", 4, malformed},
              {"gcs_id", 3, {E::other_gcs, E::malformed}},
              {"nonce", 32, gate},
              {"suite length", 4, malformed},
              {"suite", suite.id.size(), gate},
              {"KEM name length", 4, malformed},
              {"KEM name", suite.kem->name.size(), gate},
              {"SIG name length", 4, malformed},
              {"SIG name", suite.sig->name.size(), gate},
              {"flags", 1, {E::malformed, E::bad_gate}},
              {"prev_session", 8, gate},
              {"epoch", 1, gate},
              {"features", 2, gate},
              {"index", 1, gate},
              {"max_datagram", 2, {E::bad_gate, E::malformed}},
              {"term", 4, gate},
              {"return_proof length", 4, malformed},
              {"gate", 32, gate}};
    case 2:
      return {{"length", 4, {E::bad_frame, E::none}},
              {"type", 1, {E::bad_frame}},
              {"session_id", 8, signature},
              {"nonce", 32, signature},
              {"epoch", 1, {E::wrong_epoch}},
              {"features", 2, malformed},
              {"index", 2, signature},
              {"KEM key length", 4, malformed},
              {"KEM key", suite.kem->public_key, signature},
              {"X25519 length", 4, malformed},
              {"X25519", 32, signature},
              {"signature length", 4, malformed},
              {"signature", suite.sig->signature_max, signature}};
    case 3: {
      std::vector<Field> fields{{"length", 4, {E::bad_frame}},       {"type", 1, {E::bad_frame}},
                                {"ciphertext length", 4, malformed}, {"ciphertext", suite.kem->ciphertext, finish},
                                {"X25519 length", 4, malformed},     {"X25519", 32, finish},
                                {"signature length", 4, malformed}};
      if (signs) {
        fields[0].errors.insert(E::none);
        fields.push_back({"signature", suite.sig->signature_max, {E::bad_drone_signature}});
      }
      fields.push_back({"confirm_c", 32, {E::bad_confirm}});
      return fields;
    }
    default: return {{"length", 4, {E::bad_frame}}, {"type", 1, {E::bad_frame}}, {"confirm_s", 32, {E::bad_confirm}}};
  }
}

class EveryMessage : public ::testing::TestWithParam<std::tuple<std::size_t, bool>> {
 protected:
  const std::size_t message_ = std::get<0>(GetParam());
  const Scene scene_ = scene_of(std::get<1>(GetParam()));
  const Bytes good_ = run(scene_).messages.at(message_);

  HandshakeError receiver_error(const Outcome& out) const {
    return message_ % 2 == 0 ? out.drone_error : out.gcs_error;
  }
};

TEST_P(EveryMessage, AFlipOfAnyByteIsRefusedForTheRightReason) {
  std::size_t at = 0;
  for (const auto& field : layout(message_, scene_.drone_signs)) {
    for (std::size_t in_field = 0; in_field < field.size; ++in_field, ++at) {
      // Every bit where fields are short; one that changes with the place in long ones.
      for (int bit = 0; bit < 8; ++bit) {
        if (field.size > 40 && bit != static_cast<int>(at % 8)) continue;
        const auto out = run(scene_, [&](std::size_t index, Bytes& frame) {
          if (index == message_) frame.at(at) ^= static_cast<std::uint8_t>(1 << bit);
        });
        const auto what = "message " + std::to_string(message_) + ", " + field.name + " byte " +
                          std::to_string(in_field) + " bit " + std::to_string(bit);
        ASSERT_FALSE(out.done()) << what;
        expect_no_split(out, what);
        ASSERT_TRUE(field.errors.count(receiver_error(out))) << what << ": " << to_string(receiver_error(out));
        if (message_ == 4) {
          ASSERT_EQ(out.drone, HandshakeStatus::failed) << what;
        } else if (message_ != 2) {
          ASSERT_NE(out.gcs, HandshakeStatus::done) << what;
        }
      }
    }
  }
  EXPECT_EQ(at, good_.size()) << "the layout covers the whole message";
}

TEST_P(EveryMessage, EveryTruncationWaitsAndThenFails) {
  for (std::size_t size = 0; size < good_.size(); ++size) {
    const auto out = run(scene_, [&](std::size_t index, Bytes& frame) {
      if (index == message_) frame.resize(size);
    });
    ASSERT_EQ(message_ % 2 == 0 ? out.drone : out.gcs, HandshakeStatus::working)
        << size << ": nothing to refuse, the time limit ends it";
    ASSERT_FALSE(out.drone_keys);
  }
}

TEST_P(EveryMessage, TrailingBytesAreRefused) {
  for (const std::size_t extra : {1, 5, 100}) {
    const auto out = run(scene_, [&](std::size_t index, Bytes& frame) {
      if (index == message_) frame.resize(frame.size() + extra);
    });
    EXPECT_EQ(receiver_error(out), HandshakeError::bad_frame);
    EXPECT_FALSE(out.drone_keys && out.gcs_keys);
    if (message_ != 4) {
      EXPECT_FALSE(out.gcs_keys);
    }
  }
}

TEST_P(EveryMessage, AnOverlongHeaderIsRefusedBeforeAnyBody) {
  std::vector<std::uint32_t> lengths{0xffffffff, 0x80000000, 0x01000000};
  static const auto limits = [](std::size_t message, const Scene& scene) {
    switch (message) {
      case 1: return client_hello_limits();
      case 2: return server_hello_limits(*scene.suite, scene.hybrid);
      case 3: return client_finish_limits(*scene.suite, scene.hybrid, scene.drone_signs);
      default: return server_finish_limits();
    }
  };
  const auto limit = limits(message_, scene_).front();
  lengths.push_back(static_cast<std::uint32_t>(limit.greatest + 1));
  lengths.push_back(static_cast<std::uint32_t>(limit.least - 1));
  for (const auto length : lengths) {
    const auto out = run(scene_, [&](std::size_t index, Bytes& frame) {
      if (index != message_) return;
      store_be(frame.data(), length);
      frame.resize(kFrameHeaderSize);
    });
    EXPECT_EQ(receiver_error(out), HandshakeError::bad_frame) << length;
  }
}

TEST_P(EveryMessage, AnyOtherMessageInItsPlaceIsRefused) {
  const auto messages = run(scene_).messages;
  for (std::size_t other = 0; other < messages.size(); ++other) {
    if (other == message_) continue;
    const auto out = run(scene_, [&](std::size_t index, Bytes& frame) {
      if (index == message_) frame = messages[other];
    });
    EXPECT_EQ(receiver_error(out), HandshakeError::bad_frame) << other;
    EXPECT_FALSE(out.done());
  }
}

TEST_P(EveryMessage, TheSameMessageOfAnotherHandshakeIsRefused) {
  const auto out = run(scene_, [&](std::size_t index, Bytes& frame) {
    if (index == message_) frame = good_;
  });
  EXPECT_FALSE(out.done());
  expect_no_split(out, "replay");
  switch (message_) {
    case 1:  // it passes the gate, and what it draws is of no use: the answer is signed for it
      EXPECT_EQ(out.drone_error, HandshakeError::bad_signature);
      EXPECT_EQ(out.gcs, HandshakeStatus::working);
      break;
    case 2: EXPECT_EQ(out.drone_error, HandshakeError::bad_signature); break;
    case 3:
      EXPECT_EQ(out.gcs_error, scene_.drone_signs ? HandshakeError::bad_drone_signature : HandshakeError::bad_confirm);
      break;
    default: EXPECT_EQ(out.drone_error, HandshakeError::bad_confirm); break;
  }
}

INSTANTIATE_TEST_SUITE_P(Handshake, EveryMessage,
                         ::testing::Combine(::testing::Range<std::size_t>(1, 5), ::testing::Bool()),
                         [](const auto& info) {
                           return "M" + std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_signed" : "_unsigned");
                         });

TEST(Tampering, AMessageTwiceIsBytesOutOfTurn) {
  const Scene scene;
  HandshakeInitiator drone(drone_params(scene));
  HandshakeResponder gcs(gcs_env(scene));
  const auto m1 = drone.start(0);
  EXPECT_EQ(gcs.on_data(m1, 0).status, HandshakeStatus::working);
  ASSERT_TRUE(gcs.gated());
  EXPECT_EQ(gcs.on_data(m1, 0).status, HandshakeStatus::failed);
  EXPECT_EQ(gcs.error(), HandshakeError::bad_frame);
  EXPECT_FALSE(gcs.gated());
  EXPECT_THROW((void)gcs.go_on(0), TunnelError);
}

TEST(Tampering, AFinishedEndStaysAsItIs) {
  const Scene scene;
  HandshakeInitiator drone(drone_params(scene));
  HandshakeResponder gcs(gcs_env(scene));
  const auto m1 = drone.start(0);
  EXPECT_EQ(drone.on_data(Bytes(50), 0).status, HandshakeStatus::failed);
  EXPECT_EQ(drone.error(), HandshakeError::bad_frame);
  EXPECT_EQ(gcs.on_data(m1, 0).status, HandshakeStatus::working);
  EXPECT_EQ(drone.on_data(gcs.go_on(0).send, 0).status, HandshakeStatus::failed);
  EXPECT_EQ(drone.error(), HandshakeError::bad_frame);
}

TEST(Tampering, ARekeyHasEveryByteOfItsSessionCovered) {
  const Scene scene{.epoch = 1, .session = 3};
  const auto good = run(scene).messages;
  ASSERT_EQ(good.size(), 5u);
  for (std::size_t message = 1; message <= 4; ++message) {
    // The long messages were bent byte by byte above; here a step through them shows that a rekey is no different.
    const std::size_t step = good[message].size() > 400 ? 13 : 1;
    for (std::size_t at = kFrameHeaderSize; at < good[message].size(); at += step) {
      const auto out = run(scene, [&](std::size_t index, Bytes& frame) {
        if (index == message) frame.at(at) ^= static_cast<std::uint8_t>(1 << (at % 8));
      });
      ASSERT_FALSE(out.done()) << message << ' ' << at;
      expect_no_split(out, "rekey");
    }
  }
}

TEST(Tampering, AFirstHandshakesMessagesAreOfNoUseInARekeyAndViceVersa) {
  const Scene rekey{.epoch = 1, .session = 3}, first;
  const auto of_rekey = run(rekey).messages, of_first = run(first).messages;
  for (std::size_t message = 1; message <= 4; ++message) {
    const auto swap = [&](const std::vector<Bytes>& others) {
      return [&, message](std::size_t index, Bytes& frame) {
        if (index == message) frame = others[message];
      };
    };
    EXPECT_FALSE(run(rekey, swap(of_first)).done()) << message;
    EXPECT_FALSE(run(first, swap(of_rekey)).done()) << message;
  }
}

TEST(Tampering, EveryBitOfAReturnProofIsCoveredByTheGate) {
  const Scene scene;
  const auto params = [&] {
    auto out = drone_params(scene);
    out.ticket.emplace();
    out.ticket->prefix.fill(5);
    return out;
  };
  const auto size = run(params(), gcs_env(scene)).messages.at(1).size();
  for (auto at = size - kHashSize - kReturnProofSize; at < size - kHashSize; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      const auto out = run(params(), gcs_env(scene), [&](std::size_t index, Bytes& frame) {
        if (index == 1) frame.at(at) ^= static_cast<std::uint8_t>(1 << bit);
      });
      ASSERT_EQ(out.gcs_error, HandshakeError::bad_gate) << at << ' ' << bit;
    }
  }
}

/// The u-coordinates of small order on Curve25519 and its twist, and those that reduce to 0 and 1 (listed at
/// cr.yp.to/ecdh.html, "contributory behaviour").
std::vector<ByteArray<32>> low_order_points() {
  const auto filled = [](const std::string& first, char middle, const std::string& last) {
    return unhex_array<32>(first + std::string(60, middle) + last);
  };
  return {filled("00", '0', "00"),
          filled("01", '0', "00"),
          unhex_array<32>("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
          unhex_array<32>("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
          filled("ec", 'f', "7f"),
          filled("ed", 'f', "7f"),
          filled("ee", 'f', "7f")};
}

/// A gcs that signs correctly but offers a bad point, as a hostile one with a stolen signing key would.
TEST(Tampering, LowOrderPointsAreRefusedByTheDrone) {
  const Scene scene;
  const auto& suite = *scene.suite;
  for (const auto& point : low_order_points()) {
    Bytes m1;
    const auto out = run(scene, [&](std::size_t index, Bytes& frame) {
      if (index == 1) m1 = frame;
      if (index != 2) return;
      auto hello = parse_server_hello(ByteView(frame).subspan(kFrameHeaderSize), suite, true).value();
      hello.x25519_public = point;
      auto forged = encode_server_hello(hello, suite.sig->signature_max);
      const auto message = server_hello_to_sign(sha256({challenge(), m1, signed_part(forged, suite, true)}));
      finish_server_hello(forged, Sig(*suite.sig).sign(signing_pair("gcs", *suite.sig).secret_key, message));
      frame = forged;
    });
    EXPECT_EQ(out.drone_error, HandshakeError::weak_key) << hex(point);
    EXPECT_EQ(out.drone_times.kem_encaps, 0u);
  }
}

TEST(Tampering, LowOrderPointsAreRefusedByTheGcs) {
  for (const auto& point : low_order_points()) {
    const auto out = run(Scene{}, [&](std::size_t index, Bytes& frame) {
      if (index != 3) return;
      const auto at = kFrameHeaderSize + 4 + light().kem->ciphertext + 4;
      std::copy(point.begin(), point.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
    });
    EXPECT_EQ(out.gcs_error, HandshakeError::weak_key) << hex(point);
    EXPECT_FALSE(out.gcs_keys);
  }
}

TEST(Tampering, ASessionIdOfZeroIsRefused) {
  const auto out = run(Scene{}, [&](std::size_t index, Bytes& frame) {
    if (index == 2) std::fill_n(frame.begin() + kFrameHeaderSize, 8, std::uint8_t{0});
  });
  EXPECT_EQ(out.drone_error, HandshakeError::malformed);
}

}  // namespace
}  // namespace pqcmav::test
