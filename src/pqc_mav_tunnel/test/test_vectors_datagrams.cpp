// SPDX-License-Identifier: Apache-2.0
// The fixed vectors of what goes around the handshake's messages: datagrams and fragments, acknowledgements, Retry and
// cookies, refusals, return proofs and restart tokens (docs/vectors).
#include <gtest/gtest.h>

#include "crypto/kdf.hpp"
#include "handshake/fragment_layout.hpp"
#include "handshake/handshake_messages.hpp"
#include "handshake/key_schedule.hpp"
#include "handshake/restart_key.hpp"
#include "handshake/retry_cookie.hpp"
#include "keys/gcs_psk.hpp"
#include "net/net.hpp"
#include "session/control_frame.hpp"
#include "vector_file.hpp"

namespace pqcmav::test {
namespace {

VectorFile read(const std::string& name) { return read_vectors(std::filesystem::path(PQCMAV_VECTORS) / name); }

Secret<32> secret(const VectorSection& given, const std::string& key) {
  return Secret<32>(std::span<const std::uint8_t, 32>(given.array<32>(key)));
}
ByteArray<16> address(const VectorSection& given) { return resolve(given.text("host"), 1, true, SOCK_DGRAM).ip16(); }

TEST(DatagramVectors, KeysHeadersTagsAndFragments) {
  const auto file = read("datagrams.txt");
  const auto& inputs = section(file, "inputs");
  const auto attempt = inputs.array<8>("attempt");
  const auto keys = derive_fragment_keys(secret(inputs, "psk"), attempt);
  EXPECT_EQ(hex(keys.from_drone.view()) + hex(keys.from_gcs.view()), inputs.text("k_f"));
  int count = 0;
  for (const auto& [name, given] : file) {
    if (!name.starts_with("limit-")) continue;
    ++count;
    const auto datagram = given.bytes("datagram");
    const auto header = parse_handshake_header(datagram);
    ASSERT_TRUE(header) << name;
    const auto number = given.number("message");
    EXPECT_EQ(header->from, number % 2 == 1 ? HandshakeSide::drone : HandshakeSide::gcs) << name;
    EXPECT_EQ(header->attempt, attempt) << name;
    EXPECT_EQ(header->packet, given.number("packet")) << name;
    EXPECT_TRUE(tag_good(keys.from(header->from), datagram)) << name;
    EXPECT_EQ(hex(frames_of(datagram)), given.text("frames")) << name;
    const auto frames = parse_frames(frames_of(datagram), true);
    ASSERT_TRUE(frames) << name;
    ASSERT_EQ(frames->fragment_count, 1) << name;
    EXPECT_EQ(frames->ack_count, number == 2 ? 1 : 0) << name;
    const auto& fragment = frames->fragments[0];
    EXPECT_EQ(fragment.message, number) << name;
    EXPECT_EQ(fragment.total, given.number("total")) << name;
    EXPECT_EQ(fragment.size, given.number("size")) << name;
    EXPECT_EQ(fragment.index, given.number("index")) << name;

    const auto message = inputs.bytes("m" + std::to_string(number));
    ASSERT_EQ(message.size(), fragment.total) << name;
    const auto layout = FragmentLayout::of(fragment.total, fragment.size).value();
    ASSERT_EQ(fragment.bytes.size(), layout.length(fragment.index)) << name;
    Bytes expected(layout.length(fragment.index));
    const auto take = [&](std::uint32_t index) {
      for (std::uint32_t i = 0; i < layout.length(index); ++i) expected[i] ^= message[layout.offset(index) + i];
    };
    if (layout.is_parity(fragment.index)) {
      const auto group = fragment.index - layout.count;
      for (auto i = layout.group_begin(group); i < layout.group_end(group); ++i) take(i);
    } else {
      take(fragment.index);
    }
    EXPECT_EQ(hex(fragment.bytes), hex(expected)) << name;

    Bytes again;
    append_handshake_header(again, *header);
    Bytes ack;
    if (number == 2) append_ack(ack, frames->acks[0]);
    Bytes part;
    append_fragment_header(part, fragment);
    append(part, fragment.bytes);
    const bool ack_first = number == 2 && frames_of(datagram)[0] == 2;
    append(again, ack_first ? ack : part);
    append(again, ack_first ? part : ack);
    append_tag(keys.from(header->from), again);
    EXPECT_EQ(hex(again), hex(datagram)) << name;
  }
  EXPECT_GE(count, 20);
}

TEST(DatagramVectors, TheOrderOfFirstSendingIsThatOfTheFile) {
  for (const std::string limit : {"1200", "548"}) {
    std::vector<std::uint32_t> order;
    std::optional<FragmentLayout> layout;
    for (const auto& [name, given] : read("datagrams.txt")) {
      if (!name.starts_with("limit-" + limit + "-m2-")) continue;
      layout = FragmentLayout::of(static_cast<std::uint32_t>(given.number("total")),
                                  static_cast<std::uint32_t>(given.number("size")));
      order.push_back(static_cast<std::uint32_t>(given.number("index")));
    }
    ASSERT_TRUE(layout);
    ASSERT_EQ(order.size(), layout->all());
    for (std::uint32_t i = 0; i < order.size(); ++i) EXPECT_EQ(layout->nth(i), order[i]) << limit << ' ' << i;
  }
}

TEST(AckVectors, EveryState) {
  int count = 0;
  for (const auto& [name, given] : read("acks.txt")) {
    if (!given.has("frame")) continue;
    ++count;
    const auto frame = given.bytes("frame"), bitmap = given.bytes("bitmap");
    const auto frames = parse_frames(frame, false);
    ASSERT_TRUE(frames) << name;
    ASSERT_EQ(frames->ack_count, 1) << name;
    const auto& ack = frames->acks[0];
    EXPECT_EQ(ack.message, 2) << name;
    EXPECT_EQ(ack.echo, given.number("echo")) << name;
    EXPECT_EQ(ack.delay_ms, given.number("delay_ms")) << name;
    EXPECT_EQ(ack.base, given.number("base")) << name;
    EXPECT_EQ(hex(ack.bitmap), hex(bitmap)) << name;
    Bytes again;
    append_ack(again, ack);
    EXPECT_EQ(hex(again), hex(frame)) << name;
  }
  EXPECT_GE(count, 12);
}

TEST(RetryVectors, CookieRetryAndTheHelloBeforeAndAfter) {
  int count = 0;
  for (const auto& [name, given] : read("retry.txt")) {
    if (!given.has("retry")) continue;
    ++count;
    const auto attempt = given.array<8>("attempt");
    const auto keys = derive_fragment_keys(secret(given, "psk"), attempt);
    const CookieJar jar(secret(given, "cookie_key"));
    const auto port = static_cast<std::uint16_t>(given.number("port"));
    const auto m1 = given.bytes("m1");
    const auto now = given.number("t") * 1'000'000'000;
    const auto cookie = jar.make(address(given), port, attempt, m1, now);
    EXPECT_EQ(hex(cookie), given.text("cookie")) << name;
    EXPECT_EQ(hex(encode_retry(attempt, cookie, keys.from_gcs)), given.text("retry")) << name;
    EXPECT_EQ(open_retry(given.bytes("retry"), attempt, keys.from_gcs), cookie) << name;
    EXPECT_TRUE(jar.good(cookie, address(given), port, attempt, m1, now + 29'000'000'000)) << name;
    for (const bool after : {false, true}) {
      const auto datagram = given.bytes(after ? "after" : "before");
      EXPECT_TRUE(tag_good(keys.from_drone, datagram)) << name;
      EXPECT_EQ(parse_handshake_header(datagram).value().packet, after ? 3u : 0u) << name;
      const auto frames = parse_frames(frames_of(datagram), true);
      ASSERT_TRUE(frames) << name;
      EXPECT_EQ(hex(whole_message_of(*frames, 1).value()), hex(m1)) << name;
      EXPECT_EQ(frames->cookie.has_value(), after) << name;
      if (after) {
        EXPECT_EQ(*frames->cookie, cookie) << name;
      }
    }
  }
  EXPECT_GE(count, 2);
}

TEST(RejectVectors, EveryCode) {
  const auto file = read("rejects.txt");
  const auto& inputs = section(file, "inputs");
  const auto psk = secret(inputs, "psk");
  const auto m1 = inputs.bytes("m1");
  EXPECT_EQ(hex(challenge()), inputs.text("m0"));
  int count = 0;
  for (const auto& [name, given] : file) {
    if (!given.has("mac")) continue;
    ++count;
    const auto code = static_cast<std::uint8_t>(given.number("code"));
    const auto retry_ms = static_cast<std::uint16_t>(given.number("retry_ms"));
    const auto mac = reject_mac(psk, m1, code, retry_ms);
    EXPECT_EQ(hex(mac), given.text("mac")) << name;
    EXPECT_EQ(hex(encode_reject({static_cast<Reject>(code), retry_ms, mac})), given.text("frame")) << name;
  }
  EXPECT_GE(count, 6);
}

TEST(ProofVectors, ReturnsTheirProofsAndRestartTokens) {
  const auto file = read("proofs.txt");
  const auto& inputs = section(file, "inputs");
  const auto& drone = inputs.text("drone_id");
  EXPECT_EQ(hex(psk_of_gcs(secret(inputs, "psk_drone"), inputs.text("gcs_id")).view()), inputs.text("psk"));
  const RestartKey key(secret(inputs, "restart_key"));
  int returns = 0, restarts = 0;
  for (const auto& [name, given] : file) {
    if (name.starts_with("return-")) {
      ++returns;
      const auto serial = static_cast<std::uint32_t>(given.number("serial"));
      const auto granted = key.make_return(drone, address(given), serial);
      EXPECT_EQ(hex(granted.address_tag), given.text("address_tag")) << name;
      EXPECT_EQ(hex(granted.return_key.view()), given.text("return_key")) << name;
      const auto got = got_for(ReturnGrant{serial, granted.address_tag, granted.return_key.view()}).value();
      EXPECT_EQ(hex(got.check), given.text("got_check")) << name;
      const auto m1 = given.bytes("m1");
      const auto hello = parse_client_hello(ByteView(m1).subspan(kFrameHeaderSize));
      ASSERT_TRUE(hello) << name;
      EXPECT_TRUE(gate_good(secret(inputs, "psk"), m1)) << name;
      const auto prefix = ByteView(m1).first(m1.size() - kHashSize - kReturnMacSize);
      const auto proof = [&](const ByteArray<16>& from) {
        return key.check(hello->return_proof, drone, from, prefix, serial);
      };
      EXPECT_EQ(proof(address(given)), RestartKey::Proof::drone_and_address) << name;
      EXPECT_EQ(proof(ByteArray<16>{1}), RestartKey::Proof::drone) << name;
    } else if (name.starts_with("restart-")) {
      ++restarts;
      const auto token = key.token(given.array<8>("session_id"));
      EXPECT_EQ(hex(token), given.text("token")) << name;
      EXPECT_EQ("63" + given.text("session_id") + hex(token), given.text("datagram")) << name;
      EXPECT_EQ(hex(got_for(RestartToken{token}).value().check), given.text("got_check")) << name;
    }
  }
  EXPECT_GE(returns, 2);
  EXPECT_GE(restarts, 2);
}

}  // namespace
}  // namespace pqcmav::test
