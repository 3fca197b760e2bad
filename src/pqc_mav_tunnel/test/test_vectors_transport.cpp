// SPDX-License-Identifier: Apache-2.0
// The fixed vectors of what carries a handshake: datagrams and their tags, acknowledgements, Retry, refusals, proofs.
#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "handshake/handshake_datagram.hpp"
#include "handshake/incoming_message.hpp"
#include "handshake/key_schedule.hpp"
#include "handshake/restart_key.hpp"
#include "handshake/retry_cookie.hpp"
#include "keys/gcs_psk.hpp"
#include "vector_file.hpp"

namespace pqcmav::test {
namespace {

VectorFile vectors(const std::string& name) { return read_vectors(std::filesystem::path(PQCMAV_VECTORS) / name); }

template <class Number>
Number number(const VectorSection& from, const std::string& key) {
  return static_cast<Number>(from.number(key));
}

/// `192.0.2.7` or `2001:db8::7`, as in the vectors.
ByteArray<16> address_of(const VectorSection& from) {
  return from.text("host") == "192.0.2.7" ? unhex_array<16>("00000000000000000000ffffc0000207")
                                          : unhex_array<16>("20010db8000000000000000000000007");
}

/// The message that a section's name tells, `limit-1200-m2-00`: 2.
int message_of(const std::string& name) { return name[name.find("-m") + 2] - '0'; }

TEST(DatagramVectors, EveryTagAndFrame) {
  const auto file = vectors("datagrams.txt");
  const auto& inputs = section(file, "inputs");
  const Psk psk(inputs.array<32>("psk"));
  const auto keys = derive_fragment_keys(psk, inputs.array<8>("attempt"));
  EXPECT_EQ(hex(keys.from_drone.view()) + hex(keys.from_gcs.view()), inputs.text("k_f"));
  int count = 0;
  for (const auto& [name, given] : file) {
    if (!given.has("datagram")) continue;
    const auto datagram = given.bytes("datagram");
    const auto header = parse_handshake_header(datagram);
    ASSERT_TRUE(header) << name;
    EXPECT_EQ(header->from, message_of(name) % 2 == 1 ? HandshakeSide::drone : HandshakeSide::gcs) << name;
    EXPECT_EQ(header->attempt, inputs.array<8>("attempt")) << name;
    EXPECT_EQ(header->packet, given.number("packet")) << name;
    EXPECT_TRUE(tag_good(keys.from(header->from), datagram)) << name;
    const auto frames =
        parse_frames(frames_of(datagram), header->from == HandshakeSide::drone ? FramesOf::drone : FramesOf::gcs);
    ASSERT_TRUE(frames) << name;
    ASSERT_EQ(frames->ack_count, message_of(name) == 2 ? 1u : 0u) << name;
    if (frames->ack_count > 0) {
      EXPECT_EQ(frames->acks[0].message, 1) << name;
      EXPECT_EQ(frames->acks[0].echo, 0u) << name;
      EXPECT_EQ(frames->acks[0].delay_ms, 7) << name;
      EXPECT_EQ(frames->acks[0].base, 1) << name;
      EXPECT_TRUE(frames->acks[0].bitmap.empty()) << name;
    }
    ++count;
  }
  EXPECT_GE(count, 20);
}

/// What the datagrams of one message and limit give, without its fragment `lost`.
Bytes put_together(const VectorFile& file, const std::string& prefix, std::uint16_t lost) {
  std::unique_ptr<IncomingMessage> incoming;
  for (const auto& [name, given] : file) {
    if (!name.starts_with(prefix)) continue;
    const auto datagram = given.bytes("datagram");
    const auto frames = parse_frames(frames_of(datagram), FramesOf::drone);
    if (!frames || frames->fragment_count != 1) return {};
    const auto& fragment = frames->fragments[0];
    EXPECT_EQ(fragment.total, given.number("total")) << name;
    EXPECT_EQ(fragment.size, given.number("size")) << name;
    EXPECT_EQ(fragment.index, given.number("index")) << name;
    if (!incoming)
      incoming =
          std::make_unique<IncomingMessage>(fragment.message, *FragmentLayout::of(fragment.total, fragment.size));
    if (fragment.index != lost) incoming->add(fragment);
  }
  return incoming && incoming->complete() ? incoming->take() : Bytes{};
}

TEST(DatagramVectors, MessagesComeOutWholeAlsoWithOneRebuilt) {
  const auto file = vectors("datagrams.txt");
  const auto& inputs = section(file, "inputs");
  constexpr std::uint16_t none = 0xffff;
  for (const std::string limit : {"limit-1200-m", "limit-548-m"}) {
    for (const std::string message : {"1", "2", "3", "4"})
      EXPECT_EQ(hex(sha256({put_together(file, limit + message + "-", none)})), inputs.text("m" + message + "_sha256"))
          << limit << message;
    EXPECT_EQ(put_together(file, limit + "2-", 2), put_together(file, limit + "2-", none)) << limit;
  }
}

TEST(AckVectors, EveryState) {
  for (const auto& [name, given] : vectors("acks.txt")) {
    if (!given.has("frame")) continue;
    const auto frame = given.bytes("frame");
    const auto frames = parse_frames(frame, FramesOf::gcs);
    ASSERT_TRUE(frames && frames->ack_count == 1) << name;
    const auto& ack = frames->acks[0];
    EXPECT_EQ(ack.message, 2) << name;
    EXPECT_EQ(ack.echo, given.number("echo")) << name;
    EXPECT_EQ(ack.delay_ms, given.number("delay_ms")) << name;
    EXPECT_EQ(ack.base, given.number("base")) << name;
    EXPECT_EQ(hex(ack.bitmap), given.text("bitmap")) << name;
    Bytes again;
    append_ack(again, ack);
    EXPECT_EQ(again, frame) << name;

    IncomingMessage incoming(2, *FragmentLayout::of(number<std::uint32_t>(given, "count") * 475, 475));
    const Bytes bytes(475);
    std::istringstream spans(given.text("have"));
    for (std::string span; std::getline(spans, span, ',');) {
      const auto dash = span.find('-');
      const int first = std::stoi(span), last = dash == std::string::npos ? first : std::stoi(span.substr(dash + 1));
      for (int i = first; i <= last; ++i)
        incoming.add({2, incoming.layout().total, 475, static_cast<std::uint16_t>(i), bytes});
    }
    IncomingMessage::Bitmap bitmap;
    const auto length = incoming.bitmap(bitmap);
    EXPECT_EQ(incoming.base(), given.number("base")) << name;
    EXPECT_EQ(hex(ByteView(bitmap).first(length)), given.text("bitmap")) << name;
  }
}

TEST(RetryVectors, CookieAndRetry) {
  int count = 0;
  for (const auto& [name, given] : vectors("retry.txt")) {
    if (!given.has("cookie")) continue;
    const CookieJar jar{Secret<32>(given.array<32>("cookie_key"))};
    const auto attempt = given.array<8>("attempt");
    const auto m1 = given.bytes("m1");
    const auto port = number<std::uint16_t>(given, "port");
    const std::uint64_t now = given.number("t") * 1'000'000'000;
    const auto cookie = jar.make(address_of(given), port, attempt, m1, now);
    EXPECT_EQ(hex(cookie), given.text("cookie")) << name;
    EXPECT_TRUE(jar.good(cookie, address_of(given), port, attempt, m1, now + 30'000'000'000)) << name;
    EXPECT_FALSE(jar.good(cookie, address_of(given), port, attempt, m1, now + 31'000'000'000)) << name;
    const auto keys = derive_fragment_keys(Psk(given.array<32>("psk")), attempt);
    EXPECT_EQ(hex(encode_retry(attempt, cookie, keys.from_gcs)), given.text("retry")) << name;
    EXPECT_EQ(open_retry(given.bytes("retry"), attempt, keys.from_gcs), cookie) << name;
    const auto after = given.bytes("after");
    const auto frames = parse_frames(frames_of(after), FramesOf::drone);
    ASSERT_TRUE(frames) << name;
    EXPECT_EQ(frames->cookie, cookie) << name;
    EXPECT_TRUE(tag_good(keys.from_drone, after)) << name;
    ++count;
  }
  EXPECT_EQ(count, 2);
}

TEST(RejectVectors, EveryCode) {
  const auto file = vectors("rejects.txt");
  const auto& inputs = section(file, "inputs");
  const Psk psk(inputs.array<32>("psk"));
  EXPECT_EQ(hex(challenge()), inputs.text("m0"));
  int count = 0;
  for (const auto& [name, given] : file) {
    if (!given.has("mac")) continue;
    const auto mac = reject_mac(psk, inputs.bytes("m1"), number<std::uint8_t>(given, "code"),
                                number<std::uint16_t>(given, "retry_ms"));
    EXPECT_EQ(hex(mac), given.text("mac")) << name;
    ++count;
  }
  EXPECT_EQ(count, 6);
}

TEST(ProofVectors, PskReturnAndRestart) {
  const auto file = vectors("proofs.txt");
  const auto& inputs = section(file, "inputs");
  EXPECT_EQ(hex(psk_of_gcs(Psk(inputs.array<32>("psk_drone")), inputs.text("gcs_id")).view()), inputs.text("psk"));
  const RestartKey key(Secret<kRestartKeySize>(inputs.array<32>("restart_key")));
  int count = 0;
  for (const auto& [name, given] : file) {
    if (name.starts_with("restart-")) {
      EXPECT_EQ(hex(key.token(given.array<8>("session_id"))), given.text("token")) << name;
      ++count;
    } else if (name.starts_with("return-")) {
      const auto serial = number<std::uint32_t>(given, "serial");
      const auto granted = key.make_return(inputs.text("drone_id"), address_of(given), serial);
      EXPECT_EQ(hex(granted.address_tag), given.text("address_tag")) << name;
      EXPECT_EQ(hex(granted.return_key.view()), given.text("return_key")) << name;
      const auto m1 = given.bytes("m1");
      const auto prefix = ByteView(m1).first(m1.size() - 32 - kReturnMacSize);
      const auto proof = ByteView(m1).last(32 + 28).first(28);
      const auto check = [&](const ByteArray<16>& address, std::uint32_t now) {
        return key.check(proof, inputs.text("drone_id"), address, prefix, now);
      };
      EXPECT_EQ(check(address_of(given), serial + 168), RestartKey::Proof::drone_and_address) << name;
      EXPECT_EQ(check(address_of(given), serial + 169), RestartKey::Proof::bad) << name;
      EXPECT_EQ(check({}, serial), RestartKey::Proof::drone) << name;
      ++count;
    }
  }
  EXPECT_EQ(count, 4);
}

}  // namespace
}  // namespace pqcmav::test
