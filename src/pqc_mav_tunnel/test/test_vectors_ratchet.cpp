// SPDX-License-Identifier: Apache-2.0
// The ratchets of the fixed vectors: every value from the recorded secrets and messages, by the engine's own functions.
#include <gtest/gtest.h>

#include "crypto/kem_sig.hpp"
#include "crypto/x25519.hpp"
#include "handshake/key_schedule.hpp"
#include "handshake/ratchet.hpp"
#include "handshake/ratchet_messages.hpp"
#include "vector_file.hpp"

namespace pqcmav::test {
namespace {

Secret<32> agreed(const VectorSection& given, const char* scalar, ByteView theirs) {
  const auto bytes = given.array<32>(scalar);
  Secret<32> out;
  EXPECT_TRUE(X25519(bytes).derive(theirs.first<32>(), out));
  return out;
}

TEST(RatchetVectors, EveryValueFollows) {
  int count = 0;
  for (const auto& [name, given] : read_vectors(std::filesystem::path(PQCMAV_VECTORS) / "ratchets.txt")) {
    if (!given.has("r1")) continue;
    ++count;
    const auto& suite = require_suite(given.text("suite"));
    const auto& kem = ratchet_kem(suite);
    const auto r1 = given.bytes("r1"), r2 = given.bytes("r2");
    const auto hello = parse_ratchet_hello(ByteView(r1).subspan(kFrameHeaderSize));
    ASSERT_TRUE(hello) << name;
    EXPECT_EQ(name, "flags-" + std::to_string(hello->flags));
    const bool fresh = hello->flags != 0;
    EXPECT_EQ(hello->flags, ratchet_flags(given.number("hybrid") != 0, fresh)) << name;
    EXPECT_EQ(encode_ratchet_hello(*hello), r1) << name;
    const auto answer = parse_ratchet_answer(ByteView(r2).subspan(kFrameHeaderSize), hello->flags, kem);
    ASSERT_TRUE(answer) << name;
    auto again = encode_ratchet_answer(*answer);
    append(again, answer->confirm);
    EXPECT_EQ(again, r2) << name;
    EXPECT_EQ(hex(answer->session_id), given.text("session_id")) << name;

    SecretBytes ss_kem, ss_x25519;
    if (fresh) {
      const auto secret = given.bytes("kem_secret_key");
      ss_kem = Kem(kem).decapsulate(SecretBytes(ByteView(secret)), answer->ciphertext);
    }
    if (!hello->x25519_public.empty()) {
      const auto drone = agreed(given, "x25519_drone_scalar", answer->x25519_public);
      EXPECT_EQ(hex(agreed(given, "x25519_gcs_scalar", hello->x25519_public).view()), hex(drone.view())) << name;
      ss_x25519 = SecretBytes(ByteView(drone.view()));
    }
    EXPECT_EQ(hex(ss_kem.view()), given.text("ss_kem")) << name;
    EXPECT_EQ(hex(ss_x25519.view()), given.text("ss_x25519")) << name;
    const auto th = transcript_ratchet(r1, ByteView(r2).first(r2.size() - kHashSize));
    EXPECT_EQ(hex(th), given.text("th")) << name;
    const auto psk_bytes = given.array<32>("psk");
    const Psk psk{std::span<const std::uint8_t, 32>(psk_bytes)};
    const auto ck_prev = given.bytes("ck_prev");
    const auto epoch = static_cast<std::uint8_t>(given.number("epoch") + 1);
    const auto keys =
        derive_secrets(psk, ss_kem.view(), ss_x25519.view(), ck_prev, th, suite.id, answer->session_id, epoch);
    EXPECT_EQ(hex(keys.k_d2g.view()), given.text("k_d2g")) << name;
    EXPECT_EQ(hex(keys.k_g2d.view()), given.text("k_g2d")) << name;
    EXPECT_EQ(hex(keys.k_cs.view()), given.text("k_cs")) << name;
    EXPECT_EQ(hex(keys.chain.view()), given.text("ck")) << name;
    EXPECT_EQ(hex(confirm_ratchet(keys.k_cs, th)), given.text("confirm_s")) << name;
    EXPECT_EQ(answer->confirm, confirm_ratchet(keys.k_cs, th)) << name;
    EXPECT_EQ(encode_reject({Reject::epoch, 0, ratchet_reject_mac(psk, r1, 4, 0)}), given.bytes("reject")) << name;
  }
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace pqcmav::test
