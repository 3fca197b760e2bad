// SPDX-License-Identifier: Apache-2.0
#include "crypto/kdf.hpp"

#include <gtest/gtest.h>

#include <set>

#include "hex.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

using test::hex;
using test::unhex;

TEST(Sha256, Fips180Examples) {
  EXPECT_EQ(hex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256({as_bytes("abc")})), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256({as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")})),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, PartsAreConcatenated) {
  EXPECT_EQ(sha256({as_bytes("a"), {}, as_bytes("bc")}), sha256({as_bytes("abc")}));
  EXPECT_NE(sha256({as_bytes("ab")}), sha256({as_bytes("abc")}));
}

struct HmacVector {
  const char *key, *data, *mac;
};

// RFC 4231, test cases 1, 2, 3, 4, 6 and 7
const HmacVector kHmac[] = {
    {"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
    {"4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
     "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
    {"0102030405060708090a0b0c0d0e0f10111213141516171819",
     "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
     "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
};

TEST(HmacSha256, Rfc4231) {
  for (const auto& vector : kHmac)
    EXPECT_EQ(hex(hmac_sha256(unhex(vector.key), {unhex(vector.data)})), vector.mac) << vector.key;
  const Bytes long_key(131, 0xaa);
  EXPECT_EQ(hex(hmac_sha256(long_key, {as_bytes("Test Using Larger Than Block-Size Key - Hash Key First")})),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hex(hmac_sha256(long_key,
                            {as_bytes("This is a test using a larger than block-size key and a larger than block-size "
                                      "data. The key needs to be hashed before being used by the HMAC algorithm.")})),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(HmacSha256, PartsAreConcatenatedAndAnEmptyKeyIsZeros) {
  const auto key = unhex("4a656665");
  EXPECT_EQ(hmac_sha256(key, {as_bytes("what do "), {}, as_bytes("ya want")}),
            hmac_sha256(key, {as_bytes("what do ya want")}));
  EXPECT_EQ(hmac_sha256({}, {as_bytes("x")}), hmac_sha256(Bytes(64, 0), {as_bytes("x")}));
}

struct HkdfVector {
  std::string ikm, salt, info;
  std::size_t size;
  const char *prk, *okm;
};

std::string range(int from, int to) {
  Bytes bytes;
  for (int i = from; i <= to; ++i) bytes.push_back(static_cast<std::uint8_t>(i));
  return hex(bytes);
}

TEST(Hkdf, Rfc5869) {
  const std::string ikm22 = "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b";
  const HkdfVector vectors[] = {
      // appendix A.1, A.2, A.3
      {ikm22, "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9", 42,
       "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
       "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"},
      {range(0x00, 0x4f), range(0x60, 0xaf), range(0xb0, 0xff), 82,
       "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
       "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09b"
       "8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"},
      {ikm22, "", "", 42, "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
       "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"},
  };
  for (const auto& vector : vectors) {
    const auto prk = hkdf_extract(unhex(vector.salt), unhex(vector.ikm));
    EXPECT_EQ(hex(prk.view()), vector.prk);
    Bytes okm(vector.size);
    hkdf_expand(prk.view(), unhex(vector.info), okm);
    EXPECT_EQ(hex(okm), vector.okm);
  }
}

TEST(Hkdf, LengthLimits) {
  const Bytes prk(32, 1);
  Bytes longest(255 * 32), more(255 * 32 + 1), shorter(33), none;
  EXPECT_NO_THROW(hkdf_expand(prk, as_bytes("i"), longest));
  EXPECT_THROW(hkdf_expand(prk, as_bytes("i"), more), TunnelError);
  EXPECT_NO_THROW(hkdf_expand(prk, as_bytes("i"), none));
  hkdf_expand(prk, as_bytes("i"), shorter);
  EXPECT_EQ(shorter, Bytes(longest.begin(), longest.begin() + 33)) << "a shorter output is a prefix of a longer one";
}

TEST(ConstantTimeEqual, ComparesContentAndSize) {
  const auto a = unhex("00112233"), b = unhex("00112233"), c = unhex("00112234");
  EXPECT_TRUE(constant_time_equal(a, b));
  EXPECT_FALSE(constant_time_equal(a, c));
  EXPECT_FALSE(constant_time_equal(a, ByteView(b).first(3)));
  EXPECT_TRUE(constant_time_equal({}, {}));
}

TEST(RandomBytes, FillsAllOfItAndDiffersEachTime) {
  std::set<Bytes> seen;
  for (int i = 0; i < 100; ++i) {
    Bytes bytes(32);
    random_bytes(bytes);
    seen.insert(bytes);
  }
  EXPECT_EQ(seen.size(), 100u);
  // Every byte of a large buffer takes many values; one left untouched would stay zero.
  Bytes any(1024, 0);
  for (int i = 0; i < 16; ++i) {
    Bytes bytes(1024);
    random_bytes(bytes);
    for (std::size_t at = 0; at < any.size(); ++at) any[at] |= bytes[at];
  }
  EXPECT_EQ(std::count(any.begin(), any.end(), 0), 0);
  EXPECT_NO_THROW(random_bytes({}));
}

}  // namespace
}  // namespace pqcmav
