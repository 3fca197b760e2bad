// SPDX-License-Identifier: Apache-2.0
#include "handshake/handshake_messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace pqcmav {
namespace {

const Suite& suite() { return *find_suite("cs-mlkem512-aesgcm-falcon512"); }
ByteView body(const Bytes& frame) { return ByteView(frame).subspan(kFrameHeaderSize); }

ClientHello sample_hello() {
  ClientHello hello;
  hello.drone_id = "uav_1-x";
  hello.gcs_id = "north-1";
  hello.nonce.fill(3);
  hello.suite = suite().id;
  hello.kem_name = "ML-KEM-512";
  hello.sig_name = "Falcon-512";
  hello.hybrid = true;
  hello.prev_session.fill(4);
  hello.epoch = 5;
  hello.features = 0x1234;
  hello.index = 77;
  hello.max_datagram = 1199;
  hello.term = 0x01020304;
  hello.gate.fill(6);
  return hello;
}
Bytes encode_whole(const ClientHello& hello) {
  auto out = encode_client_hello(hello);
  if (!hello.return_proof.empty()) append(out, hello.return_proof.subspan(kReturnProofPrefix));
  append(out, hello.gate);
  return out;
}

TEST(ClientHelloMessage, ComesBackAsItWas) {
  Bytes proof(kReturnProofSize);
  std::iota(proof.begin(), proof.end(), std::uint8_t{100});
  for (int variant = 0; variant < 8; ++variant) {
    auto hello = sample_hello();
    hello.hybrid = variant & 1;
    hello.drone_signs = variant & 2;
    if (variant & 4) hello.return_proof = proof;
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
    EXPECT_EQ(parsed->gcs_id, hello.gcs_id);
    EXPECT_EQ(parsed->features, hello.features);
    EXPECT_EQ(parsed->index, hello.index);
    EXPECT_EQ(parsed->max_datagram, hello.max_datagram);
    EXPECT_EQ(parsed->term, hello.term);
    EXPECT_TRUE(std::ranges::equal(parsed->return_proof, hello.return_proof));
    EXPECT_EQ(parsed->gate, hello.gate);
  }
}

TEST(ClientHelloMessage, TheFieldsLieWhereTheProtocolPutsThem) {
  Bytes proof(kReturnProofSize, 8);
  auto hello = sample_hello();
  hello.return_proof = proof;
  Bytes expected;
  const auto lp = [&](std::string_view text) { append_lp(expected, as_bytes(text)); };
  lp("uav_1-x");
  lp("north-1");
  expected.insert(expected.end(), 32, 3);
  lp(suite().id);
  lp("ML-KEM-512");
  lp("Falcon-512");
  append(expected, Bytes{1});                       // flags
  append(expected, Bytes{4, 4, 4, 4, 4, 4, 4, 4});  // prev_session
  append(expected, Bytes{5, 0x12, 0x34, 77, 0x04, 0xaf, 1, 2, 3, 4});
  append_lp(expected, proof);
  expected.insert(expected.end(), 32, 6);
  const auto frame = encode_whole(hello);
  EXPECT_EQ(Bytes(body(frame).begin(), body(frame).end()), expected);
}

TEST(ClientHelloMessage, EveryTruncationAndEveryExtensionIsMalformed) {
  const Bytes proof(kReturnProofSize, 8);
  for (const bool with_proof : {false, true}) {
    auto hello = sample_hello();
    if (with_proof) hello.return_proof = proof;
    const auto frame = encode_whole(hello);
    for (std::size_t size = 0; size < body(frame).size(); ++size)
      EXPECT_FALSE(parse_client_hello(body(frame).first(size))) << size;
    auto longer = frame;
    longer.push_back(0);
    EXPECT_FALSE(parse_client_hello(body(longer)));
  }
}

TEST(ClientHelloMessage, AReturnProofIsWholeOrAbsent) {
  const auto hello = sample_hello();
  const auto frame = encode_whole(hello);
  const auto at = frame.size() - kHashSize - 4;  // its length
  for (std::size_t size = 0; size <= 40; ++size) {
    Bytes other(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(at));
    append_lp(other, Bytes(size, 9));
    append(other, hello.gate);
    EXPECT_EQ(parse_client_hello(body(other)).has_value(), size == 0 || size == kReturnProofSize) << size;
  }
}

TEST(ClientHelloMessage, NoDatagramBelowTheSmallestIsAsked) {
  auto hello = sample_hello();
  for (const auto& [limit, good] : {std::pair{0, false}, {547, false}, {548, true}, {1200, true}, {65535, true}}) {
    hello.max_datagram = static_cast<std::uint16_t>(limit);
    EXPECT_EQ(parse_client_hello(body(encode_whole(hello))).has_value(), good) << limit;
  }
}

TEST(ClientHelloMessage, ItAlwaysFitsOneDatagram) {
  // 13 + 8 bytes around the frames and 9 of the fragment's own header; 548 is the smallest datagram.
  EXPECT_LE(kFrameHeaderSize + client_hello_limits().front().greatest + 13 + 8 + 9, 548u);
  EXPECT_EQ(kFrameHeaderSize + client_hello_limits().front().greatest, 396u);
}

TEST(ClientHelloMessage, FieldsHaveLimits) {
  const auto parses = [](const ClientHello& hello) {
    return parse_client_hello(body(encode_whole(hello))).has_value();
  };
  const std::string name64(64, 'n'), name65(65, 'n'), id32(32, 'a'), id33(33, 'a');
  const Bytes proof(kReturnProofSize, 8);
  auto hello = sample_hello();
  hello.return_proof = proof;
  hello.gcs_id = id32;
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
  hello.return_proof = {};
  hello.drone_id = hello.gcs_id = "a";
  EXPECT_EQ(body(encode_whole(hello)).size(), client_hello_limits().front().least);
  for (const std::string_view bad :
       {std::string_view(""), std::string_view(id33), std::string_view("UAV"), std::string_view("a b"),
        std::string_view("a\0b", 3), std::string_view("../x"), std::string_view("\xff")}) {
    for (auto* id : {&hello.drone_id, &hello.gcs_id}) {
      const auto good = std::exchange(*id, bad);
      EXPECT_FALSE(parses(hello)) << bad;
      *id = good;
    }
  }
}

TEST(ClientHelloMessage, OtherFlagsAreMalformed) {
  auto hello = sample_hello();
  for (const std::uint16_t features : {0, 0xffff}) {  // bits that this version does not know are ignored
    hello.features = features;
    auto frame = encode_whole(hello);
    const auto at = frame.size() - kHashSize - 4 - 4 - 2 - 1 - 2 - 1 - kSessionIdSize - 1;
    for (int flags = 0; flags < 256; ++flags) {
      frame[at] = static_cast<std::uint8_t>(flags);
      EXPECT_EQ(parse_client_hello(body(frame)).has_value(), flags < (features == 0 ? 4 : 8)) << flags;
    }
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
  hello.index = 0x0203;
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
      EXPECT_EQ(parsed->index, 0x0203);
      EXPECT_EQ(parsed->features, 0);
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

TEST(ServerHelloMessage, FeaturesAndIndexComeBack) {
  auto frame = server_hello({suite().kem->public_key, 32, 50});
  const auto at = kFrameHeaderSize + kSessionIdSize + kNonceSize + 1;
  for (const std::uint16_t value : {0, 1, 0x8000, 0xffff}) {
    store_be(frame.data() + at, value);
    store_be(frame.data() + at + 2, static_cast<std::uint16_t>(~value));
    const auto parsed = parse_server_hello(body(frame), suite(), true);
    ASSERT_TRUE(parsed) << "whether they were asked for the handshake knows";
    EXPECT_EQ(parsed->features, value);
    EXPECT_EQ(parsed->index, static_cast<std::uint16_t>(~value));
  }
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
                8u + 32 + 1 + 2 + 2 + 4 + each.kem->public_key + 4 + (hybrid ? 32 : 0) + 4 + each.sig->signature_max);
      EXPECT_EQ(m2[1].type, MessageType::reject);
      EXPECT_EQ(m2[1].least, 35u);
      EXPECT_EQ(m2[1].greatest, 35u);
      EXPECT_LE(kFrameHeaderSize + m2[0].greatest, 1'410'000u);
      EXPECT_LE(kFrameHeaderSize + client_finish_limits(each, hybrid, true).front().greatest, 72'000u);
      const auto unsigned_m3 = client_finish_limits(each, hybrid, false).front();
      EXPECT_EQ(unsigned_m3.least, unsigned_m3.greatest);
      EXPECT_EQ(unsigned_m3.least, 4u + each.kem->ciphertext + 4 + (hybrid ? 32 : 0) + 4 + 32);
      EXPECT_EQ(client_finish_limits(each, hybrid, true).front().greatest,
                unsigned_m3.greatest + each.sig->signature_max);
    }
  }
}

TEST(HandshakeMessages, FinishAndReject) {
  Hash confirm;
  confirm.fill(2);
  EXPECT_EQ(parse_server_finish(body(encode_server_finish(confirm))), confirm);
  EXPECT_FALSE(parse_server_finish(Bytes(31)));
  EXPECT_FALSE(parse_server_finish(Bytes(33)));
  Refusal refusal{Reject::epoch, 0x1234, {}};
  refusal.mac.fill(7);
  Bytes expected{0, 0, 0, 35, 9, 4, 0x12, 0x34};
  expected.insert(expected.end(), 32, 7);
  EXPECT_EQ(encode_reject(refusal), expected);
  auto frame = expected;
  for (int code = 0; code < 256; ++code) {
    frame[kFrameHeaderSize] = static_cast<std::uint8_t>(code);
    const auto parsed = parse_reject(body(frame));
    EXPECT_EQ(parsed.has_value(), code >= 1 && code <= 5) << code;
    if (parsed) {
      EXPECT_EQ(static_cast<int>(parsed->code), code);
      EXPECT_EQ(parsed->retry_ms, 0x1234);
      EXPECT_EQ(parsed->mac, refusal.mac);
    }
  }
  for (std::size_t size = 0; size < 35; ++size) EXPECT_FALSE(parse_reject(body(expected).first(size)));
  expected.push_back(0);
  EXPECT_FALSE(parse_reject(body(expected)));
}

}  // namespace
}  // namespace pqcmav
