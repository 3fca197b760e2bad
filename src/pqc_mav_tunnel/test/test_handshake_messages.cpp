// SPDX-License-Identifier: Apache-2.0
#include "handshake/handshake_messages.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pqcmav {
namespace {

const Suite& suite() { return *find_suite("cs-mlkem512-aesgcm-falcon512"); }
ByteView body(const Bytes& frame) { return ByteView(frame).subspan(kFrameHeaderSize); }

ClientHello sample_hello() {
  ClientHello hello;
  hello.drone_id = "uav_1-x";
  hello.nonce.fill(3);
  hello.suite = suite().id;
  hello.kem_name = "ML-KEM-512";
  hello.sig_name = "Falcon-512";
  hello.hybrid = true;
  hello.prev_session.fill(4);
  hello.epoch = 5;
  hello.gate.fill(6);
  return hello;
}
Bytes encode_whole(const ClientHello& hello) {
  auto out = encode_client_hello(hello);
  append(out, hello.gate);
  return out;
}

TEST(ClientHelloMessage, ComesBackAsItWas) {
  for (int flags = 0; flags < 4; ++flags) {
    auto hello = sample_hello();
    hello.hybrid = flags & 1;
    hello.drone_signs = flags & 2;
    const auto frame = encode_whole(hello);
    EXPECT_EQ(load_be<std::uint32_t>(frame.data()), frame.size() - kFrameHeaderSize);
    const auto parsed = parse_client_hello(body(frame));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->drone_id, hello.drone_id);
    EXPECT_EQ(parsed->nonce, hello.nonce);
    EXPECT_EQ(parsed->suite, hello.suite);
    EXPECT_EQ(parsed->kem_name, hello.kem_name);
    EXPECT_EQ(parsed->sig_name, hello.sig_name);
    EXPECT_EQ(parsed->hybrid, hello.hybrid);
    EXPECT_EQ(parsed->drone_signs, hello.drone_signs);
    EXPECT_EQ(parsed->prev_session, hello.prev_session);
    EXPECT_EQ(parsed->epoch, hello.epoch);
    EXPECT_EQ(parsed->gate, hello.gate);
  }
}

TEST(ClientHelloMessage, EveryTruncationAndEveryExtensionIsMalformed) {
  const auto frame = encode_whole(sample_hello());
  for (std::size_t size = 0; size < body(frame).size(); ++size)
    EXPECT_FALSE(parse_client_hello(body(frame).first(size))) << size;
  auto longer = frame;
  longer.push_back(0);
  EXPECT_FALSE(parse_client_hello(body(longer)));
}

TEST(ClientHelloMessage, FieldsHaveLimits) {
  const auto parses = [](const ClientHello& hello) {
    return parse_client_hello(body(encode_whole(hello))).has_value();
  };
  const std::string name64(64, 'n'), name65(65, 'n'), id32(32, 'a'), id33(33, 'a');
  auto hello = sample_hello();
  hello.suite = hello.kem_name = hello.sig_name = name64;
  hello.drone_id = id32;
  EXPECT_TRUE(parses(hello));
  EXPECT_EQ(body(encode_whole(hello)).size(), client_hello_limits().front().greatest);
  for (auto* field : {&hello.suite, &hello.kem_name, &hello.sig_name}) {
    *field = name65;
    EXPECT_FALSE(parses(hello));
    *field = "";
    EXPECT_TRUE(parses(hello));
  }
  hello.drone_id = "a";
  EXPECT_EQ(body(encode_whole(hello)).size(), client_hello_limits().front().least);
  for (const std::string_view bad :
       {std::string_view(""), std::string_view(id33), std::string_view("UAV"), std::string_view("a b"),
        std::string_view("a\0b", 3), std::string_view("../x"), std::string_view("\xff")}) {
    hello.drone_id = bad;
    EXPECT_FALSE(parses(hello)) << bad;
  }
}

TEST(ClientHelloMessage, OtherFlagsAreMalformed) {
  const auto hello = sample_hello();
  auto frame = encode_whole(hello);
  const auto at = frame.size() - kHashSize - 1 - kSessionIdSize - 1;
  for (int flags = 0; flags < 256; ++flags) {
    frame[at] = static_cast<std::uint8_t>(flags);
    EXPECT_EQ(parse_client_hello(body(frame)).has_value(), flags < 4) << flags;
  }
}

struct Sizes {
  std::size_t kem, x25519, signature;
};

Bytes server_hello(const Sizes& sizes, std::uint8_t session = 1) {
  const Bytes kem(sizes.kem, 1), x25519(sizes.x25519, 2), signature(sizes.signature, 3);
  ServerHello hello;
  hello.session_id.fill(session);
  hello.nonce.fill(9);
  hello.epoch = 7;
  hello.kem_public = kem;
  hello.x25519_public = x25519;
  auto frame = encode_server_hello(hello, signature.size());
  finish_server_hello(frame, signature);
  return frame;
}

TEST(ServerHelloMessage, ComesBackAsItWasWithAnySignatureLength) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{600}, suite().sig->signature_max}) {
    for (const bool hybrid : {true, false}) {
      const auto frame = server_hello({suite().kem->public_key, hybrid ? 32u : 0u, size});
      EXPECT_EQ(load_be<std::uint32_t>(frame.data()), frame.size() - kFrameHeaderSize);
      const auto parsed = parse_server_hello(body(frame), suite(), hybrid);
      ASSERT_TRUE(parsed);
      EXPECT_EQ(parsed->signature.size(), size);
      EXPECT_EQ(parsed->kem_public.size(), suite().kem->public_key);
      EXPECT_EQ(parsed->epoch, 7);
      EXPECT_EQ(signed_part(frame, suite(), hybrid).size(), body(frame).size() - 4 - size);
      EXPECT_EQ(signed_part(frame, suite(), hybrid).data(), body(frame).data());
      const auto limits = server_hello_limits(suite(), hybrid).front();
      EXPECT_GE(body(frame).size(), limits.least);
      EXPECT_LE(body(frame).size(), limits.greatest);
    }
  }
}

TEST(ServerHelloMessage, SizesOtherThanTheSuitesAreMalformed) {
  const auto kem = suite().kem->public_key;
  const auto max = suite().sig->signature_max;
  EXPECT_TRUE(parse_server_hello(body(server_hello({kem, 32, max})), suite(), true));
  for (const Sizes& bad : {Sizes{kem - 1, 32, 100},
                           {kem + 1, 32, 100},
                           {0, 32, 100},
                           {kem, 31, 100},
                           {kem, 33, 100},
                           {kem, 0, 100},
                           {kem, 32, 0},
                           {kem, 32, max + 1}}) {
    EXPECT_FALSE(parse_server_hello(body(server_hello(bad)), suite(), true))
        << bad.kem << ' ' << bad.x25519 << ' ' << bad.signature;
  }
  EXPECT_FALSE(parse_server_hello(body(server_hello({kem, 32, 100})), suite(), false)) << "an X25519 key in pure mode";
  EXPECT_FALSE(parse_server_hello(body(server_hello({kem, 32, 100}, 0)), suite(), true)) << "session id zero";
}

TEST(ServerHelloMessage, EveryTruncationIsMalformed) {
  const auto frame = server_hello({suite().kem->public_key, 32, 50});
  for (std::size_t size = 0; size < body(frame).size(); ++size)
    ASSERT_FALSE(parse_server_hello(body(frame).first(size), suite(), true)) << size;
}

Bytes client_finish(const Sizes& sizes) {
  const Bytes ciphertext(sizes.kem, 1), x25519(sizes.x25519, 2), signature(sizes.signature, 3);
  ClientFinish finish;
  finish.ciphertext = ciphertext;
  finish.x25519_public = x25519;
  finish.signature = signature;
  finish.confirm.fill(8);
  return encode_client_finish(finish);
}

TEST(ClientFinishMessage, SizesAreThoseOfSuiteAndFlags) {
  const auto ct = suite().kem->ciphertext;
  const auto max = suite().sig->signature_max;
  const auto parses = [](const Bytes& frame, bool hybrid, bool signs) {
    return parse_client_finish(body(frame), suite(), hybrid, signs).has_value();
  };
  EXPECT_TRUE(parses(client_finish({ct, 32, 0}), true, false));
  EXPECT_TRUE(parses(client_finish({ct, 0, 0}), false, false));
  EXPECT_TRUE(parses(client_finish({ct, 32, 1}), true, true));
  EXPECT_TRUE(parses(client_finish({ct, 32, max}), true, true));
  EXPECT_FALSE(parses(client_finish({ct, 32, 0}), true, true)) << "announced and absent";
  EXPECT_FALSE(parses(client_finish({ct, 32, 1}), true, false)) << "not announced";
  EXPECT_FALSE(parses(client_finish({ct, 32, max + 1}), true, true));
  EXPECT_FALSE(parses(client_finish({ct - 1, 32, 0}), true, false));
  EXPECT_FALSE(parses(client_finish({ct + 1, 32, 0}), true, false));
  EXPECT_FALSE(parses(client_finish({ct, 0, 0}), true, false));
  EXPECT_FALSE(parses(client_finish({ct, 32, 0}), false, false));
  EXPECT_FALSE(parses(client_finish({ct, 31, 0}), true, false));
  const auto frame = client_finish({ct, 32, 5});
  for (std::size_t size = 0; size < body(frame).size(); ++size)
    ASSERT_FALSE(parse_client_finish(body(frame).first(size), suite(), true, true));
}

TEST(HandshakeMessages, LimitsOfEverySuiteFitItsMessages) {
  for (const auto& each : all_suites()) {
    for (const bool hybrid : {true, false}) {
      const auto m2 = server_hello_limits(each, hybrid);
      ASSERT_EQ(m2.size(), 2u);
      EXPECT_EQ(m2[0].greatest - m2[0].least, each.sig->signature_max - 1);
      EXPECT_EQ(m2[0].greatest,
                8u + 32 + 1 + 4 + each.kem->public_key + 4 + (hybrid ? 32 : 0) + 4 + each.sig->signature_max);
      EXPECT_EQ(m2[1].type, MessageType::reject);
      const auto unsigned_m3 = client_finish_limits(each, hybrid, false).front();
      EXPECT_EQ(unsigned_m3.least, unsigned_m3.greatest);
      EXPECT_EQ(unsigned_m3.least, 4u + each.kem->ciphertext + 4 + (hybrid ? 32 : 0) + 4 + 32);
      EXPECT_EQ(client_finish_limits(each, hybrid, true).front().greatest,
                unsigned_m3.greatest + each.sig->signature_max);
    }
  }
}

TEST(HandshakeMessages, ChallengeFinishAndReject) {
  Cookie cookie;
  cookie.fill(1);
  const auto m0 = encode_challenge(cookie);
  EXPECT_EQ(m0.size(), kFrameHeaderSize + challenge_limits().front().greatest);
  EXPECT_TRUE(is_challenge(body(m0)));
  for (std::size_t at = 0; at < 8; ++at) {
    auto other = m0;
    other[kFrameHeaderSize + at] ^= 1;
    EXPECT_FALSE(is_challenge(body(other)));
  }
  Hash confirm;
  confirm.fill(2);
  EXPECT_EQ(parse_server_finish(body(encode_server_finish(confirm))), confirm);
  EXPECT_FALSE(parse_server_finish(Bytes(31)));
  EXPECT_FALSE(parse_server_finish(Bytes(33)));
  EXPECT_EQ(encode_reject(Reject::epoch), (Bytes{0, 0, 0, 1, 9, 4}));
  for (int code = 0; code < 256; ++code) {
    const auto parsed = parse_reject(Bytes{static_cast<std::uint8_t>(code)});
    EXPECT_EQ(parsed.has_value(), code >= 1 && code <= 6) << code;
    if (parsed) {
      EXPECT_EQ(static_cast<int>(*parsed), code);
    }
  }
  EXPECT_FALSE(parse_reject({}));
  EXPECT_FALSE(parse_reject(Bytes{1, 1}));
}

}  // namespace
}  // namespace pqcmav
