// SPDX-License-Identifier: Apache-2.0
// The fixed vectors of pqc_mav_wirespec, which the independent Python implementation makes: every message, hash, key and
// datagram must come out here the same.
#include <gtest/gtest.h>

#include "crypto/kem_sig.hpp"
#include "crypto/x25519.hpp"
#include "handshake/handshake_messages.hpp"
#include "handshake/key_schedule.hpp"
#include "session/bundle.hpp"
#include "session/compact_header.hpp"
#include "session/control_frame.hpp"
#include "session/frame.hpp"
#include "vector_file.hpp"

namespace pqcmav::test {
namespace {

std::filesystem::path folder() { return PQCMAV_VECTORS; }

/// Those of the handshakes; large messages are left out of some.
std::vector<std::string> handshake_files(bool with_m2) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with("handshake_") || !name.ends_with(".txt")) continue;
    if (!with_m2 || section(read_vectors(entry.path()), "messages").has("m2")) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

ByteView body(const Bytes& frame) { return ByteView(frame).subspan(kFrameHeaderSize); }

template <std::size_t N>
void expect_bytes(const VectorSection& values, const std::string& key, const std::span<const std::uint8_t, N> got) {
  EXPECT_EQ(hex(got), values.text(key)) << key;
}
void expect_hash(const VectorSection& values, const std::string& key, const Hash& got) {
  EXPECT_EQ(hex(got), values.text(key)) << key;
}

class HandshakeVector : public ::testing::TestWithParam<std::string> {
 protected:
  VectorFile file_ = read_vectors(folder() / GetParam());
  const VectorSection& inputs_ = section(file_, "inputs");
  const VectorSection& messages_ = section(file_, "messages");
  const VectorSection& values_ = section(file_, "values");
  const Suite& suite_ = *find_suite(section(file_, "vector").text("suite"));
  /// By a library of this process; the rest of a file needs none.
  const bool computed_ = availability(suite_).available;
  const bool hybrid_ = inputs_.number("hybrid") == 1, signs_ = inputs_.number("drone_signs") == 1;
  const Psk psk_{std::span<const std::uint8_t, 32>(inputs_.array<32>("psk"))};
  const Bytes m0_ = messages_.bytes("m0"), m1_ = messages_.bytes("m1"), m3_ = messages_.bytes("m3"),
              m4_ = messages_.bytes("m4");
};

TEST_P(HandshakeVector, TheClientHelloAndItsGate) {
  EXPECT_EQ(hex(challenge()), hex(m0_));

  const auto hello = parse_client_hello(body(m1_));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->drone_id, inputs_.text("drone_id"));
  EXPECT_EQ(hello->gcs_id, inputs_.text("gcs_id"));
  EXPECT_EQ(hello->suite, suite_.id);
  EXPECT_EQ(hello->kem_name, inputs_.text("kem_name"));
  EXPECT_EQ(hello->sig_name, inputs_.text("sig_name"));
  EXPECT_EQ(hello->hybrid, hybrid_);
  EXPECT_EQ(hello->drone_signs, signs_);
  EXPECT_EQ(hello->epoch, inputs_.number("epoch"));
  EXPECT_EQ(hello->prev_session, inputs_.array<8>("prev_session"));
  auto again = encode_client_hello(*hello);
  EXPECT_EQ(gate_mac(psk_, again), hello->gate);
  expect_hash(values_, "gate", hello->gate);
  append(again, hello->gate);
  EXPECT_EQ(again, m1_);
  EXPECT_TRUE(gate_good(psk_, m1_));
}

class ServerHelloVector : public HandshakeVector {};

TEST_P(ServerHelloVector, TheServerHelloAndItsSignature) {
  const auto m2 = messages_.bytes("m2");
  const auto hello = parse_server_hello(body(m2), suite_, hybrid_);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->session_id, inputs_.array<8>("session_id"));
  EXPECT_EQ(hello->epoch, inputs_.number("epoch"));
  const auto signed_bytes = signed_part(m2, suite_, hybrid_);
  const auto to_sign = server_hello_to_sign(sha256({m0_, m1_, signed_bytes}));
  EXPECT_EQ(hex(ByteView(to_sign).last(kHashSize)), values_.text("signed_hash"));
  if (computed_) {
    EXPECT_TRUE(Sig(*suite_.sig).verify(inputs_.bytes("gcs_public"), to_sign, hello->signature));
  }
  expect_hash(values_, "h2", sha256({m0_, m1_, m2}));
  if (hybrid_) {
    EXPECT_EQ(hex(X25519(inputs_.array<32>("x25519_gcs_scalar")).public_key()), hex(hello->x25519_public));
  }

  auto again = encode_server_hello(*hello, suite_.sig->signature_max);
  EXPECT_EQ(hex(signed_part(again, suite_, hybrid_)), hex(signed_bytes));
  finish_server_hello(again, hello->signature);
  EXPECT_EQ(again, m2);
}

TEST_P(HandshakeVector, TheClientFinishTheKeysAndTheServerFinish) {
  const auto finish = parse_client_finish(body(m3_), suite_, hybrid_, signs_);
  ASSERT_TRUE(finish);
  EXPECT_EQ(encode_client_finish(*finish), m3_);
  const auto h3 = transcript_h3(values_.array<32>("h2"), finish->ciphertext, finish->x25519_public);
  expect_hash(values_, "h3", h3);
  if (signs_ && computed_) {
    EXPECT_TRUE(Sig(*suite_.sig).verify(inputs_.bytes("drone_public"), client_finish_to_sign(h3), finish->signature));
  }
  const auto t3 = transcript_t3(h3, finish->signature);
  expect_hash(values_, "t3", t3);

  const SecretBytes ss_kem{ByteView(values_.bytes("ss_kem"))};
  if (inputs_.has("kem_secret_key") && computed_) {  // else it is too large to keep
    const SecretBytes secret_key{ByteView(inputs_.bytes("kem_secret_key"))};
    EXPECT_EQ(hex(Kem(*suite_.kem).decapsulate(secret_key, finish->ciphertext).view()), hex(ss_kem.view()));
  }
  Secret<32> ss_x25519;
  if (hybrid_) {
    ASSERT_TRUE(X25519(inputs_.array<32>("x25519_gcs_scalar")).derive(finish->x25519_public.first<32>(), ss_x25519));
    expect_bytes(values_, "ss_x25519", ss_x25519.view());
    EXPECT_EQ(hex(X25519(inputs_.array<32>("x25519_drone_scalar")).public_key()), hex(finish->x25519_public));
  }
  const auto secrets =
      derive_secrets(psk_, ss_kem.view(), hybrid_ ? ByteView(ss_x25519.view()) : ByteView(), inputs_.bytes("ck_prev"),
                     h3, suite_.id, inputs_.array<8>("session_id"), static_cast<std::uint8_t>(inputs_.number("epoch")));
  expect_bytes(values_, "k_d2g", secrets.k_d2g.view());
  expect_bytes(values_, "k_g2d", secrets.k_g2d.view());
  expect_bytes(values_, "k_cc", secrets.k_cc.view());
  expect_bytes(values_, "k_cs", secrets.k_cs.view());
  expect_bytes(values_, "ck", secrets.chain.view());
  const auto confirm_c = confirm_client(secrets.k_cc, t3);
  EXPECT_EQ(confirm_c, finish->confirm);
  const auto confirm_s = confirm_server(secrets.k_cs, t3, confirm_c);
  EXPECT_EQ(encode_server_finish(confirm_s), m4_);
  EXPECT_EQ(parse_server_finish(body(m4_)), confirm_s);
}

TEST_P(HandshakeVector, TheFirstDatagrams) {
  const auto& data = section(file_, "data");
  for (const std::string direction : {"d2g", "g2d"}) {
    SendKey send(suite_, inputs_.array<8>("session_id"), static_cast<std::uint8_t>(inputs_.number("epoch")),
                 values_.array<32>("k_" + direction));
    const auto payload = data.bytes(direction + "_payload");
    Bytes packet(kOverhead + payload.size());
    std::copy(payload.begin(), payload.end(), packet.begin() + kHeaderSize);
    ASSERT_TRUE(send.seal(FrameType::data, packet));
    EXPECT_EQ(hex(packet), data.text(direction + "_datagram"));
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  auto name = info.param.substr(10, info.param.size() - 14);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Files, HandshakeVector, ::testing::ValuesIn(handshake_files(false)), test_name);
INSTANTIATE_TEST_SUITE_P(Files, ServerHelloVector, ::testing::ValuesIn(handshake_files(true)), test_name);

struct Ends {
  SendKey send;
  ReceiveKey receive;
};
Ends ends_of(const VectorSection& given, std::size_t window_bits = kWindowBits) {
  const auto& suite = *find_suite(given.text("suite"));
  const auto id = given.array<8>("session_id");
  const auto epoch = static_cast<std::uint8_t>(given.number("epoch"));
  const auto key = given.array<32>("key");
  return {SendKey(suite, id, epoch, key), ReceiveKey(suite, id, epoch, key, window_bits)};
}

/// Seals `payload` as the vector says, with the keys of `keys`, and compares; opens the vector's datagram and compares.
void expect_datagram(const std::string& name, const VectorSection& given, const VectorSection& keys, FrameType type,
                     const Bytes& payload) {
  auto ends = ends_of(keys);
  ends.send.skip_to(given.number("sequence"));
  Bytes packet(kOverhead + payload.size());
  std::copy(payload.begin(), payload.end(), packet.begin() + kHeaderSize);
  ASSERT_TRUE(ends.send.seal(type, packet)) << name;
  EXPECT_EQ(packet, given.bytes("datagram")) << name;
  auto received = given.bytes("datagram");
  const auto header = parse_header(received);
  ASSERT_TRUE(header) << name;
  const auto opened = ends.receive.open(*header, received);
  ASSERT_FALSE(opened.drop) << name;
  EXPECT_EQ(opened.type, type) << name;
  EXPECT_EQ(hex(opened.payload), hex(payload)) << name;
}

TEST(VectorFile, ReadsHexAndBase64) {
  const VectorSection given{{{"hex", "00ff"},
                             {"none", "base64:"},
                             {"one", "base64:/w=="},
                             {"two", "base64:+/8="},
                             {"three", "base64:AP+A"},
                             {"bad", "base64:A"},
                             {"other", "base64:AA-_"}}};
  EXPECT_EQ(given.bytes("hex"), unhex("00ff"));
  EXPECT_EQ(given.bytes("none"), Bytes());
  EXPECT_EQ(given.bytes("one"), unhex("ff"));
  EXPECT_EQ(given.bytes("two"), unhex("fbff"));
  EXPECT_EQ(given.bytes("three"), unhex("00ff80"));
  EXPECT_THROW((void)given.bytes("bad"), std::invalid_argument);
  EXPECT_THROW((void)given.bytes("other"), std::invalid_argument);
}

TEST(DataVectors, EveryDatagram) {
  int count = 0;
  for (const auto& [name, given] : read_vectors(folder() / "data.txt")) {
    if (!given.has("datagram")) continue;
    expect_datagram(name, given, given, FrameType::data, given.bytes("payload"));
    ++count;
  }
  EXPECT_EQ(count, 44);
}

TEST(ControlVectors, EveryFrame) {
  int good = 0, unusable = 0;
  const auto file = read_vectors(folder() / "control.txt");
  for (const auto& [name, given] : file) {
    if (!given.has("content")) continue;
    const auto content = given.bytes("content");
    expect_datagram(name, given, section(file, "keys"), FrameType::control, content);
    ControlList list;
    const bool usable = parse_controls(content, list);
    EXPECT_EQ(usable ? "control" : "drop_decrypt_fail", given.text("outcome")) << name;
    ++(usable ? good : unusable);
    if (!name.starts_with("tlv-")) continue;
    ASSERT_EQ(list.count, 1u) << name;
    Bytes out(kControlFrameMax);
    const auto used = append_control(out, 0, list.items[0]);
    ASSERT_TRUE(used) << name;
    EXPECT_EQ(hex(ByteView(out).first(*used)), hex(content)) << name;
  }
  EXPECT_GE(good, 9);
  EXPECT_GE(unusable, 10);
}

TEST(ControlVectors, FieldsOfEachKind) {
  const auto file = read_vectors(folder() / "control.txt");
  const auto parse = [&](const std::string& name) {
    const auto& given = section(file, "tlv-" + name);
    static Bytes content;
    content = given.bytes("content");
    ControlList list;
    EXPECT_TRUE(parse_controls(content, list)) << name;
    return std::pair{&given, list.items[0]};
  };
  {
    const auto [given, item] = parse("probe_reply");
    const auto& reply = std::get<ProbeReply>(item);
    EXPECT_EQ(reply.id, given->number("tlv_id"));
    EXPECT_EQ(reply.t1, given->number("tlv_t1"));
    EXPECT_EQ(reply.t2, given->number("tlv_t2"));
    EXPECT_EQ(reply.t3, given->number("tlv_t3"));
  }
  {
    const auto [given, item] = parse("link_report");
    const auto& report = std::get<LinkReport>(item);
    EXPECT_EQ(report.window_ms, given->number("tlv_window_ms"));
    EXPECT_EQ(report.packets_per_s_milli, given->number("tlv_packets_per_s_milli"));
    EXPECT_EQ(report.gap_p95_us, given->number("tlv_gap_p95_us"));
    EXPECT_EQ(report.longest_silence_us, given->number("tlv_longest_silence_us"));
    EXPECT_EQ(report.jitter_us, given->number("tlv_jitter_us"));
    EXPECT_EQ(report.loss_ppm, given->number("tlv_loss_ppm"));
    EXPECT_EQ(report.blackouts, given->number("tlv_blackouts"));
    const std::array<const char*, kDropKinds> names{"malformed", "unknown",   "seq_old",
                                                    "replay",    "auth_fail", "decrypt_fail"};
    for (std::size_t i = 0; i < kDropKinds; ++i)
      EXPECT_EQ(report.drops[i], given->number(std::string("tlv_drop_") + names[i]));
  }
  {
    const auto [given, item] = parse("rekey_request");
    const auto& request = std::get<RekeyRequest>(item);
    EXPECT_EQ(request.request_id, given->number("tlv_request_id"));
    EXPECT_EQ(request.suite, given->text("tlv_suite"));
    EXPECT_EQ(request.reason, given->text("tlv_reason"));
  }
  {
    const auto [given, item] = parse("rekey_result");
    const auto& result = std::get<RekeyResult>(item);
    EXPECT_EQ(result.request_id, given->number("tlv_request_id"));
    EXPECT_EQ(result.ok, given->number("tlv_ok") == 1);
    EXPECT_EQ(result.epoch, given->number("tlv_epoch"));
    EXPECT_EQ(result.duration_us, given->number("tlv_duration_us"));
    EXPECT_EQ(result.text, given->text("tlv_text"));
  }
  {
    const auto [given, item] = parse("alarm");
    const auto& alarm = std::get<AlarmTold>(item);
    EXPECT_EQ(alarm.level, given->number("tlv_level"));
    EXPECT_EQ(alarm.kind, given->text("tlv_kind"));
  }
}

/// The receive order of docs/protocol.md section 10, with one session.
std::string outcome_of(ReceiveKey& receive, std::optional<std::uint16_t> index, Bytes packet, std::string& plaintext) {
  static constexpr std::array<const char*, kDropKinds> kNames{"drop_malformed", "drop_unknown",   "drop_seq_old",
                                                              "drop_replay",    "drop_auth_fail", "drop_decrypt_fail"};
  const auto dropped = [](Drop reason) { return kNames[static_cast<std::size_t>(reason)]; };
  std::optional<Header> header;
  auto head = kHeaderSize;
  if (is_compact(packet)) {
    const auto compact = index ? parse_compact_header(packet) : std::nullopt;
    if (!compact) return dropped(Drop::malformed);
    if (compact->index != *index) return dropped(Drop::unknown);
    header = receive.header_of(*compact);
    head = compact->size();
  } else {
    header = parse_header(packet);
    if (!header) return dropped(Drop::malformed);
    if (header->session_id != receive.session_id() || header->epoch != receive.epoch()) return dropped(Drop::unknown);
  }
  const auto opened = receive.open(*header, packet, head);
  if (opened.drop) return dropped(*opened.drop);
  ControlList list;
  if (opened.type == FrameType::control && !parse_controls(opened.payload, list)) return "drop_decrypt_fail";
  BundleParts parts;
  if (opened.type == FrameType::bundle && !parse_bundle(opened.payload, parts)) return "drop_decrypt_fail";
  plaintext = hex(opened.payload);
  return opened.type == FrameType::control ? "control" : "delivered";
}

std::optional<std::uint16_t> index_of(const VectorSection& receiver) {
  const bool compact = (receiver.number("features") & features::kCompact) != 0;
  return compact ? std::optional(static_cast<std::uint16_t>(receiver.number("index"))) : std::nullopt;
}

TEST(ReceiveVectors, EveryStepInOrder) {
  for (const auto* script : {"receive.txt", "receive_compact.txt"}) {
    const auto file = read_vectors(folder() / script);
    const auto& receiver = section(file, "receiver");
    auto ends = ends_of(receiver, receiver.number("window_bits"));
    int steps = 0;
    for (const auto& [name, step] : file) {
      if (!name.starts_with("step-")) continue;
      std::string plaintext;
      EXPECT_EQ(outcome_of(ends.receive, index_of(receiver), step.bytes("datagram"), plaintext), step.text("outcome"))
          << script << ' ' << name << ": " << step.text("what");
      EXPECT_EQ(plaintext, step.text("plaintext")) << name;
      ++steps;
    }
    EXPECT_GE(steps, 20);
  }
}

TEST(CompactVectors, EveryFrameInBothForms) {
  const auto file = read_vectors(folder() / "compact.txt");
  const auto& keys = section(file, "keys");
  const auto& suite = require_suite(keys.text("suite"));
  const auto id = keys.array<8>("session_id");
  const auto epoch = static_cast<std::uint8_t>(keys.number("epoch"));
  const auto key = keys.array<32>("key");
  int count = 0, lost = 0;
  for (const auto& [name, given] : file) {
    if (!given.has("index")) continue;
    const auto index = static_cast<std::uint16_t>(given.number("index"));
    const auto sequence = given.number("sequence"), expected = given.number("expected");
    const auto content = given.bytes("content");
    const auto compact = given.bytes("datagram");
    const auto type = parse_compact_header(compact).value().type;
    for (const bool long_form : {false, true}) {
      SendKey send(suite, id, epoch, key, index);
      send.skip_to(sequence);
      if (sequence > 0) send.peer_has_seen(sequence - 1);
      Bytes packet(kOverhead + content.size());
      std::copy(content.begin(), content.end(), packet.begin() + kHeaderSize);
      const auto sealed = send.seal(type, packet, long_form);
      ASSERT_TRUE(sealed);
      EXPECT_EQ(hex(*sealed), hex(given.bytes(long_form ? "long" : "datagram"))) << name;
    }
    ReceiveKey receive(suite, id, epoch, key);
    std::string plaintext;
    if (expected > 0) {
      SendKey before(suite, id, epoch, key);
      before.skip_to(expected - 1);
      Bytes packet(kOverhead);
      ASSERT_TRUE(before.seal(FrameType::data, packet));
      EXPECT_EQ(outcome_of(receive, index, packet, plaintext), "delivered");
    }
    EXPECT_EQ(outcome_of(receive, index, compact, plaintext), given.text("outcome")) << name;
    if (given.text("outcome").starts_with("drop_"))
      ++lost;
    else
      EXPECT_EQ(plaintext, hex(content)) << name;
    ++count;
  }
  EXPECT_EQ(count, 38);
  EXPECT_EQ(lost, 2);
}

TEST(BundleVectors, EachInBothForms) {
  const auto file = read_vectors(folder() / "bundles.txt");
  const auto& keys = section(file, "keys");
  const auto& suite = require_suite(keys.text("suite"));
  const auto id = keys.array<8>("session_id");
  const auto epoch = static_cast<std::uint8_t>(keys.number("epoch"));
  const auto key = keys.array<32>("key");
  int good = 0, unusable = 0;
  for (const auto& [name, given] : file) {
    if (!given.has("content")) continue;
    const auto index = static_cast<std::uint16_t>(given.number("index"));
    const auto content = given.bytes("content");
    for (const bool long_form : {false, true}) {
      SendKey send(suite, id, epoch, key, index);
      send.skip_to(given.number("sequence"));
      Bytes packet(kOverhead + content.size());
      std::copy(content.begin(), content.end(), packet.begin() + kHeaderSize);
      const auto sealed = send.seal(FrameType::bundle, packet, long_form);
      ASSERT_TRUE(sealed);
      EXPECT_EQ(hex(*sealed), hex(given.bytes(long_form ? "long" : "datagram"))) << name;
      ReceiveKey receive(suite, id, epoch, key, kWindowBits, true);
      std::string plaintext;
      EXPECT_EQ(outcome_of(receive, index, given.bytes(long_form ? "long" : "datagram"), plaintext),
                given.text("outcome"))
          << name;
    }
    BundleParts parts;
    auto copy = content;
    if (!parse_bundle(copy, parts)) {
      EXPECT_EQ(given.text("outcome"), "drop_decrypt_fail") << name;
      ++unusable;
      continue;
    }
    std::string lengths;
    for (std::size_t i = 0; i < parts.count; ++i)
      lengths += (i == 0 ? "" : ",") + std::to_string(parts.items[i].size());
    EXPECT_EQ(lengths, given.text("lengths")) << name;
    ++good;
  }
  EXPECT_EQ(good, 6);
  EXPECT_EQ(unusable, 7);
}

}  // namespace
}  // namespace pqcmav::test
