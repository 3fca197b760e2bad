// SPDX-License-Identifier: Apache-2.0
#include "crypto/aead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "constants.hpp"
#include "crypto/aead_raw.hpp"
#include "crypto/kdf.hpp"
#include "hex.hpp"

namespace pqcmav {
namespace {

using test::hex;
using test::unhex;
using test::unhex_array;

struct Vector {
  const char *key, *nonce, *aad, *plain, *cipher, *tag;
};

// NIST CAVP, "GCM Test Vectors", file gcmEncryptExtIV256.rsp, sections [IVlen = 96, Taglen = 128], Count = 0 of each
// combination of lengths.
const Vector kGcm[] = {
    {"31bdadd96698c204aa9ce1448ea94ae1fb4a9a0b3c9d773b51bb1822666b8f22", "0d18e06c7c725ac9e362e1ce", "",
     "2db5168e932556f8089a0622981d017d", "fa4362189661d163fcd6a56d8bf0405a", "d636ac1bbedd5cc3ee727dc2ab4a9489"},
    {"92e11dcdaa866f5ce790fd24501f92509aacf4cb8b1339d50c9c1240935dd08b", "ac93a1a6145299bde902f21a",
     "1e0889016f67601c8ebea4943bc23ad6", "2d71bcfa914e4ac045b2aa60955fad24", "8995ae2e6df3dbf96fac7b7137bae67f",
     "eca5aa77d51d4a0a14d9c51e1da474ab"},
    {"83688deb4af8007f9b713b47cfa6c73e35ea7a3aa4ecdb414dded03bf7a0fd3a", "0b459724904e010a46901cf3",
     "794a14ccd178c8ebfd1379dc704c5e208f9d8424", "33d893a2114ce06fc15d55e454cf90c3", "cc66bee423e3fcd4c0865715e9586696",
     "0fb291bd3dba94a1dfd8b286cfb97ac5"},
    {"e4fed339c7b0cd267305d11ab0d5c3273632e8872d35bdc367a1363438239a35", "0365882cf75432cfd23cbd42",
     "8a97d2af5d41160ac2ff7dd8ba098e7aa4d618f0f455957d6a6d0801796747ba57c32dfbaaaf15176528fe3a0e4550c9",
     "fff39a087de39a03919fbd2f2fa5f513", "8d9e68f03f7e5f4a0ffaa7650d026d08", "3554542c478c0635285a61d1b51f6afa"},
    {"80d755e24d129e68a5259ec2cf618e39317074a83c8961d3768ceb2ed8d5c3d7", "7598c07ba7b16cd12cf50813",
     "0e94f4c48fd0c9690c853ad2a5e197c5de262137b69ed0cdfa28d8d12413e4ffff15374e1cccb0423e8ed829a954a335ed705a272ad7f9abd"
     "1057c849bb0d54b768e9d79879ec552461cc04adb6ca0040c5dd5bc733d21a93702",
     "5e7fd1298c4f15aa0f1c1e47217aa7a9", "5762a38cf3f2fdf3645d2f6696a7eead", "8a6708e69468915c5367573924fe1ae3"},
    {"82c4f12eeec3b2d3d157b0f992d292b237478d2cecc1d5f161389b97f999057a", "7b40b20f5f397177990ef2d1", "",
     "982a296ee1cd7086afad976945", "ec8e05a0471d6b43a59ca5335f", "113ddeafc62373cac2f5951bb9165249"},
    {"69b458f2644af9020463b40ee503cdf083d693815e2659051ae0d039e606a970", "8d1da8ab5f91ccd09205944b",
     "036ad5e5494ef817a8af2f5828784a4bfedd1653", "f3e0e09224256bf21a83a5de8d", "c0a62d77e6031bfdc6b13ae217",
     "a794a9aaee48cd92e47761bf1baff0af"},
    {"5853c020946b35f2c58ec427152b840420c40029636adcbb027471378cfdde0f", "eec313dd07cc1b3e6b068a47",
     "1389b522c24a774181700553f0246bbabdd38d6f", "ce7458e56aef9061cb0c42ec2315565e6168f5a6249ffd31610b6d17ab64935e",
     "eadc3b8766a77ded1a58cb727eca2a9790496c298654cda78febf0da16b6903b", "3d49a5b32fde7eafcce90079217ffb57"},
    {"1fded32d5999de4a76e0f8082108823aef60417e1896cf4218a2fa90f632ec8a", "1f3afa4711e9474f32e70462", "",
     "06b2c75853df9aeb17befd33cea81c630b0fc53667ff45199c629c8e15dce41e530aa792f796b8138eeab2e86c7b7bee1d40b0",
     "91fbd061ddc5a7fcc9513fcdfdc9c3a7c5d4d64cedf6a9c24ab8a77c36eefbf1c5dc00bc50121b96456c8cd8b6ff1f8b3e480f",
     "30096d340f3d5c42d82a6f475def23eb"},
    {"24501ad384e473963d476edcfe08205237acfd49b5b8f33857f8114e863fec7f", "9ff18563b978ec281b3f2794",
     "adb5ec720ccf9898500028bf34afccbcaca126ef",
     "27f348f9cdc0c5bd5e66b1ccb63ad920ff2219d14e8d631b3872265cf117ee86757accb158bd9abb3868fdc0d0b074b5f01b2c",
     "eb7cb754c824e8d96f7c6d9b76c7d26fb874ffbf1d65c6f64a698d839b0b06145dae82057ad55994cf59ad7f67c0fa5e85fab8",
     "bc95c532fecc594c36d1550286a7a3f0"},
    {"03ccb7dbc7b8425465c2c3fc39ed0593929ffd02a45ff583bd89b79c6f646fe9", "fd119985533bd5520b301d12",
     "98e68c10bf4b5ae62d434928fc6405147c6301417303ef3a703dcfd2c0c339a4d0a89bd29fe61fecf1066ab06d7a5c31a48ffbfed22f749b1"
     "7e9bd0dc1c6f8fbd6fd4587184db964d5456132106d782338c3f117ec05229b0899",
     "", "", "cf54e7141349b66f248154427810c87a"},
};

const Vector kChaCha[] = {
    // RFC 8439, section 2.8.2
    {"808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f", "070000004041424344454647",
     "50515253c0c1c2c3c4c5c6c7",
     "4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a204966204920636f756c64206f66666"
     "57220796f75206f6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73637265656e20776f756c64206265206974"
     "2e",
     "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e060b290"
     "5d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b61"
     "16",
     "1ae10b594f09e26a7e902ecbd0600691"},
    // RFC 8439, appendix A.5
    {"1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0", "000000000102030405060708",
     "f33388860000000000004e91",
     "496e7465726e65742d4472616674732061726520647261667420646f63756d656e74732076616c696420666f722061206d6178696d756d206"
     "f6620736978206d6f6e74687320616e64206d617920626520757064617465642c207265706c616365642c206f72206f62736f6c6574656420"
     "6279206f7468657220646f63756d656e747320617420616e792074696d652e20497420697320696e617070726f70726961746520746f20757"
     "36520496e7465726e65742d447261667473206173207265666572656e6365206d6174657269616c206f7220746f2063697465207468656d20"
     "6f74686572207468616e206173202fe2809c776f726b20696e2070726f67726573732e2fe2809d",
     "64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb24c6cfc18755d43eea09ee94e382d26b0bdb7b73c321b0100d"
     "4f03b7f355894cf332f830e710b97ce98c8a84abd0b948114ad176e008d33bd60f982b1ff37c8559797a06ef4f0ef61c186324e2b35063836"
     "06907b6a7c02b0f9f6157b53c867e4b9166c767b804d46a59b5216cde7a4e99040c5a40433225ee282a1b0a06c523eaf4534d7f83fa1155b0"
     "047718cbc546a0d072b04b3564eea1b422273f548271a0bb2316053fa76991955ebd63159434ecebb4e466dae5a1073a6727627097a1049e6"
     "17d91d361094fa68f0ff77987130305beaba2eda04df997b714d6c6f2c29a6ad5cb4022b02709b",
     "eead9d67890cbb22392336fea1851f38"},
};

void check(AeadId id, std::span<const Vector> vectors) {
  for (const auto& vector : vectors) {
    const auto key = unhex_array<32>(vector.key);
    auto nonce = unhex(vector.nonce);
    nonce.resize(16);
    const auto aad = unhex(vector.aad);
    const auto aead = make_raw_aead(id, key);
    for (int round = 0; round < 2; ++round) {  // the context is reused
      auto data = unhex(vector.plain);
      ByteArray<16> tag{};
      ASSERT_TRUE(aead->seal_raw(nonce.data(), aad, data, tag));
      EXPECT_EQ(hex(data), vector.cipher);
      EXPECT_EQ(hex(tag), vector.tag);
      ASSERT_EQ(aead->open_raw(nonce.data(), aad, data, tag), Aead::Open::ok);
      EXPECT_EQ(hex(data), vector.plain);
    }
  }
}

TEST(Aead, NistCavpAes256Gcm) { check(AeadId::aes256gcm, kGcm); }
TEST(Aead, Rfc8439ChaCha20Poly1305) { check(AeadId::chacha20poly1305, kChaCha); }

TEST(Aead, NonceIsEpochThenSequenceInElevenBytes) {
  EXPECT_EQ(hex(packet_nonce(0, 0)), std::string(32, '0'));
  EXPECT_EQ(hex(packet_nonce(0xab, 0x0102030405060708)), "ab000000010203040506070800000000");
}

class EachAead : public testing::TestWithParam<AeadId> {
 protected:
  static ByteArray<32> key() {
    ByteArray<32> out;
    std::iota(out.begin(), out.end(), std::uint8_t{1});
    return out;
  }
  static Bytes counting(std::size_t size) {
    Bytes out(size);
    std::iota(out.begin(), out.end(), std::uint8_t{0});
    return out;
  }
  std::unique_ptr<Aead> aead_ = make_aead(GetParam(), key());
  Bytes header_ = counting(kHeaderSize);
};

TEST_P(EachAead, OpensWhatAnotherObjectOfTheKeySealed) {
  const auto other = make_aead(GetParam(), key());
  for (const std::size_t size : {0, 1, 15, 16, 17, 64, 255, 256, 1200, 1432, 65000}) {
    const auto plain = counting(size);
    auto data = plain;
    ByteArray<16> tag;
    ASSERT_TRUE(aead_->seal(3, size, header_, data, tag));
    if (size >= 16) {
      EXPECT_NE(data, plain);
    }
    ASSERT_EQ(other->open(3, size, header_, data, tag), Aead::Open::ok) << size;
    EXPECT_EQ(data, plain);
  }
}

TEST_P(EachAead, ContextReuseLeavesNoTraceOfThePacketBefore) {
  // The same packet sealed by a fresh key and by one that sealed, opened and failed before.
  const auto plain = counting(100);
  auto first = plain;
  ByteArray<16> tag, again;
  ASSERT_TRUE(make_aead(GetParam(), key())->seal(1, 7, header_, first, tag));
  for (std::size_t round = 0; round < 20; ++round) {
    auto noise = counting(round * 11);
    ByteArray<16> noise_tag;
    ASSERT_TRUE(aead_->seal(9, round, ByteView(header_).first(round), noise, noise_tag));
    noise_tag[round % 16] ^= 1;
    EXPECT_EQ(aead_->open(9, round, ByteView(header_).first(round), noise, noise_tag), Aead::Open::bad_tag);
    auto data = plain;
    ASSERT_TRUE(aead_->seal(1, 7, header_, data, again));
    EXPECT_EQ(data, first);
    EXPECT_EQ(again, tag);
    EXPECT_EQ(aead_->open(1, 7, header_, data, again), Aead::Open::ok);
    EXPECT_EQ(data, plain);
  }
}

TEST_P(EachAead, EveryFlippedBitIsRefusedAndLeavesNoPlaintext) {
  auto sealed = counting(40);
  ByteArray<16> tag;
  ASSERT_TRUE(aead_->seal(2, 5, header_, sealed, tag));
  const auto expect_refused = [&](std::uint8_t epoch, std::uint64_t sequence, const char* what) {
    auto data = sealed;
    EXPECT_EQ(aead_->open(epoch, sequence, header_, data, tag), Aead::Open::bad_tag) << what;
    EXPECT_EQ(data, Bytes(sealed.size(), 0)) << what;
  };
  const auto each_bit = [&](MutableBytes field, const char* what) {
    for (std::size_t bit = 0; bit < 8 * field.size(); ++bit) {
      field[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
      expect_refused(2, 5, what);
      field[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    }
  };
  each_bit(header_, "header");
  each_bit(sealed, "data");
  each_bit(tag, "tag");
  expect_refused(3, 5, "epoch");
  for (int bit = 0; bit < 64; ++bit) expect_refused(2, 5 ^ (std::uint64_t{1} << bit), "sequence");
  auto data = sealed;
  EXPECT_EQ(aead_->open(2, 5, header_, data, tag), Aead::Open::ok);
  EXPECT_EQ(data, counting(40));
}

TEST_P(EachAead, AnotherKeyRefuses) {
  // Those of Ascon take the first half of the key: change a bit there.
  auto other_key = key();
  other_key[15] ^= 1;
  auto data = counting(40);
  ByteArray<16> tag;
  ASSERT_TRUE(aead_->seal(2, 5, header_, data, tag));
  EXPECT_EQ(make_aead(GetParam(), other_key)->open(2, 5, header_, data, tag), Aead::Open::bad_tag);
}

TEST_P(EachAead, EmptyDataMayBeANullView) {
  ByteArray<16> tag;
  ASSERT_TRUE(aead_->seal(0, 0, header_, {}, tag));
  EXPECT_EQ(aead_->open(0, 0, header_, {}, tag), Aead::Open::ok);
  tag[0] ^= 1;
  EXPECT_EQ(aead_->open(0, 0, header_, {}, tag), Aead::Open::bad_tag);
}

INSTANTIATE_TEST_SUITE_P(All, EachAead,
                         testing::Values(AeadId::aes256gcm, AeadId::chacha20poly1305, AeadId::ascon128a,
                                         AeadId::ascon_aead128),
                         [](const auto& info) {
                           return std::string(std::ranges::find(aeads(), info.param, &AeadInfo::id)->token);
                         });

TEST(Aead, TooLongForADatagramIsRefused) {
  for (const auto id : {AeadId::aes256gcm, AeadId::chacha20poly1305}) {
    const auto aead = make_aead(id, ByteArray<32>{});
    Bytes data(kMaxDatagram + 1, 1);
    ByteArray<16> tag{};
    EXPECT_FALSE(aead->seal(0, 0, {}, data, tag));
    EXPECT_EQ(data, Bytes(data.size(), 0)) << "what was not sealed must not be sent by mistake";
    EXPECT_EQ(aead->open(0, 0, {}, data, tag), Aead::Open::failed);
  }
}

}  // namespace
}  // namespace pqcmav
