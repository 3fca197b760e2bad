// SPDX-License-Identifier: Apache-2.0
#include "handshake/ratchet_messages.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

TEST(RatchetMessages, TheBytesAreTheDocumentedOnes) {
  RatchetHello hello;
  hello.flags = 0;
  hello.index = 5;
  hello.nonce.fill(7);
  Bytes expected{0, 0, 0, 42, 5, 0, 5};
  expected.insert(expected.end(), 32, 7);
  expected.insert(expected.end(), 8, 0);
  EXPECT_EQ(encode_ratchet_hello(hello), expected);

  RatchetAnswer answer;
  answer.session_id = {1, 2, 3, 4, 5, 6, 7, 8};
  answer.index = 0x0102;
  answer.nonce.fill(9);
  Bytes said{0, 0, 0, 82, 6, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2};
  said.insert(said.end(), 32, 9);
  said.insert(said.end(), 8, 0);
  EXPECT_EQ(encode_ratchet_answer(answer), said) << "its header counts the confirmation that is still to come";
}

TEST(RatchetMessages, ComeBackAsTheyWere) {
  const auto& kem = *find_kem("mlkem768");
  const Bytes share(32, 1), key(kem.public_key, 2), ciphertext(kem.ciphertext, 3);
  RatchetHello hello{3, 255, {}, share, key};
  const auto r1 = encode_ratchet_hello(hello);
  const auto parsed = parse_ratchet_hello(ByteView(r1).subspan(kFrameHeaderSize)).value();
  EXPECT_EQ(parsed.flags, 3);
  EXPECT_EQ(parsed.index, 255);
  EXPECT_TRUE(std::ranges::equal(parsed.x25519_public, share));
  EXPECT_TRUE(std::ranges::equal(parsed.kem_public, key));

  RatchetAnswer answer{{1}, 0xffff, {}, share, ciphertext, {}};
  auto r2 = encode_ratchet_answer(answer);
  const Hash confirm{4};
  append(r2, confirm);
  const ByteView body = ByteView(r2).subspan(kFrameHeaderSize);
  EXPECT_EQ(load_be<std::uint32_t>(r2.data()), body.size());
  const auto heard = parse_ratchet_answer(body, 3, kem).value();
  EXPECT_EQ(heard.index, 0xffff);
  EXPECT_TRUE(std::ranges::equal(heard.ciphertext, ciphertext));
  EXPECT_EQ(heard.confirm, confirm);
  for (const std::uint8_t flags : {0, 1, 2}) EXPECT_FALSE(parse_ratchet_answer(body, flags, kem)) << unsigned{flags};
  EXPECT_FALSE(parse_ratchet_answer(body, 3, *find_kem("mlkem512")));
  for (std::size_t size = 0; size < body.size(); ++size) ASSERT_FALSE(parse_ratchet_answer(body.first(size), 3, kem));
  auto none = r2;
  std::fill_n(none.begin() + kFrameHeaderSize, kSessionIdSize, 0);
  EXPECT_FALSE(parse_ratchet_answer(ByteView(none).subspan(kFrameHeaderSize), 3, kem)) << "a session of zeros";
}

TEST(RatchetMessages, LimitsAreWhatAMessageCanHave) {
  EXPECT_EQ(ratchet_hello_limits().front().least, 42u);
  EXPECT_EQ(ratchet_hello_limits().front().greatest, 42u + 32 + 1568);
  const auto limits = ratchet_answer_limits(2, *find_kem("mlkem512"));
  ASSERT_EQ(limits.size(), 2u);
  EXPECT_EQ(limits[0].least, 82u + 768);
  EXPECT_EQ(limits[0].greatest, limits[0].least);
  EXPECT_EQ(limits[1].type, MessageType::reject);
}

}  // namespace
}  // namespace pqcmav
