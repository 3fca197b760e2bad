// SPDX-License-Identifier: Apache-2.0
// Nanoseconds per packet of the engine's authenticated encryption, in place, next to the bare OpenSSL calls on a
// context that is keyed once and reused: the cost the engine adds. Both do the same work in the same run, turn by turn,
// so that the machine's moods hit both; each figure is the median over the rounds. Prints JSON.
//   aead_benchmark [rounds, default 400]
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "constants.hpp"
#include "crypto/aead.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/suites.hpp"
#include "session/frame.hpp"
#include "text.hpp"

namespace {

using namespace pqcmav;

constexpr std::size_t kBatch = 32;    // packets sealed, then opened, per measurement: as many as one recvmmsg may bring
constexpr std::size_t kRepeats = 16;  // measurements per round

using Packets = std::vector<Bytes>;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "aead_benchmark: %s failed\n", what);
  std::exit(1);
}

MutableBytes header_of(Bytes& packet) { return MutableBytes(packet).first(kHeaderSize); }
MutableBytes payload_of(Bytes& packet) { return MutableBytes(packet).subspan(kHeaderSize, packet.size() - kOverhead); }
std::span<std::uint8_t, kTagSize> tag_of(Bytes& packet) { return MutableBytes(packet).last<kTagSize>(); }

/// One way of sealing and opening a batch of packets with one key.
class Contestant {
 public:
  Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;
  virtual ~Contestant() = default;
  virtual void seal(Packets& packets) = 0;
  virtual void open(Packets& packets) = 0;
};

/// The calls an OpenSSL program makes per packet, by its manual (EVP_EncryptInit(3), AEAD interface).
class BareOpenssl final : public Contestant {
 public:
  BareOpenssl(const char* name, const ByteArray<32>& key)
      : cipher_(EVP_CIPHER_fetch(nullptr, name, nullptr)), seal_(EVP_CIPHER_CTX_new()), open_(EVP_CIPHER_CTX_new()) {
    if (EVP_EncryptInit_ex(seal_, cipher_, nullptr, key.data(), nullptr) != 1 ||
        EVP_DecryptInit_ex(open_, cipher_, nullptr, key.data(), nullptr) != 1)
      fail(name);
  }
  ~BareOpenssl() override {
    EVP_CIPHER_CTX_free(seal_);
    EVP_CIPHER_CTX_free(open_);
    EVP_CIPHER_free(cipher_);
  }

  void seal(Packets& packets) override {
    int done = 0;
    for (auto& packet : packets) {
      const auto data = payload_of(packet);
      const auto nonce = packet_nonce(0, sealed_++);
      if (EVP_EncryptInit_ex(seal_, nullptr, nullptr, nullptr, nonce.data()) != 1 ||
          EVP_EncryptUpdate(seal_, nullptr, &done, packet.data(), static_cast<int>(kHeaderSize)) != 1 ||
          EVP_EncryptUpdate(seal_, data.data(), &done, data.data(), static_cast<int>(data.size())) != 1 ||
          EVP_EncryptFinal_ex(seal_, data.data() + done, &done) != 1 ||
          EVP_CIPHER_CTX_ctrl(seal_, EVP_CTRL_AEAD_GET_TAG, kTagSize, tag_of(packet).data()) != 1) {
        fail("OpenSSL sealing");
      }
    }
  }
  void open(Packets& packets) override {
    int done = 0;
    for (auto& packet : packets) {
      const auto data = payload_of(packet);
      const auto nonce = packet_nonce(0, opened_++);
      if (EVP_DecryptInit_ex(open_, nullptr, nullptr, nullptr, nonce.data()) != 1 ||
          EVP_DecryptUpdate(open_, nullptr, &done, packet.data(), static_cast<int>(kHeaderSize)) != 1 ||
          EVP_DecryptUpdate(open_, data.data(), &done, data.data(), static_cast<int>(data.size())) != 1 ||
          EVP_CIPHER_CTX_ctrl(open_, EVP_CTRL_AEAD_SET_TAG, kTagSize, tag_of(packet).data()) != 1 ||
          EVP_DecryptFinal_ex(open_, data.data() + done, &done) != 1) {
        fail("OpenSSL opening");
      }
    }
  }

 private:
  EVP_CIPHER* cipher_;
  EVP_CIPHER_CTX *seal_, *open_;
  std::uint64_t sealed_ = 0, opened_ = 0;
};

/// The engine's AEAD alone.
class EngineAead final : public Contestant {
 public:
  EngineAead(AeadId id, const ByteArray<32>& key) : seal_(make_aead(id, key)), open_(make_aead(id, key)) {}
  void seal(Packets& packets) override {
    for (auto& packet : packets) {
      if (!seal_->seal(0, sealed_++, header_of(packet), payload_of(packet), tag_of(packet))) fail("sealing");
    }
  }
  void open(Packets& packets) override {
    for (auto& packet : packets) {
      if (open_->open(0, opened_++, header_of(packet), payload_of(packet), tag_of(packet)) != Aead::Open::ok)
        fail("opening");
    }
  }

 private:
  std::unique_ptr<Aead> seal_, open_;
  std::uint64_t sealed_ = 0, opened_ = 0;
};

/// All the engine does to a packet in memory: header, sequence, AEAD; parsing, replay window, AEAD.
class EngineFrame final : public Contestant {
 public:
  EngineFrame(const Suite& suite, const ByteArray<32>& key)
      : send_(suite, SessionId{1}, 0, key), receive_(suite, SessionId{1}, 0, key) {}
  void seal(Packets& packets) override {
    for (auto& packet : packets) {
      if (!send_.seal(FrameType::data, packet)) fail("sealing a frame");
    }
  }
  void open(Packets& packets) override {
    for (auto& packet : packets) {
      const auto header = parse_header(packet);
      if (!header || receive_.open(*header, packet).drop) fail("opening a frame");
    }
  }

 private:
  SendKey send_;
  ReceiveKey receive_;
};

struct Samples {
  std::vector<double> seal, open;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename Call>
double nanoseconds(Call&& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

void measure(Contestant& contestant, Packets& packets, Samples& out) {
  double seal = 0, open = 0;
  for (std::size_t i = 0; i < kRepeats; ++i) {
    seal += nanoseconds([&] { contestant.seal(packets); });
    open += nanoseconds([&] { contestant.open(packets); });
  }
  out.seal.push_back(seal / static_cast<double>(kRepeats * kBatch));
  out.open.push_back(open / static_cast<double>(kRepeats * kBatch));
}

struct Cipher {
  const char *suite, *openssl;  // null: OpenSSL 3.0 does not have it
};
constexpr Cipher kCiphers[] = {
    {"cs-mlkem768-aesgcm-mldsa65", "AES-256-GCM"},
    {"cs-mlkem768-chacha20poly1305-mldsa65", "ChaCha20-Poly1305"},
    {"cs-mlkem768-ascon128a-mldsa65", nullptr},
};

/// One result as a JSON object.
std::string run(const Cipher& cipher, std::size_t size, int rounds) {
  const Suite& suite = *find_suite(cipher.suite);
  ByteArray<32> key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  EngineAead aead(suite.aead->id, key);
  EngineFrame frame(suite, key);
  std::unique_ptr<BareOpenssl> bare;
  if (cipher.openssl != nullptr) bare = std::make_unique<BareOpenssl>(cipher.openssl, key);
  Packets packets(kBatch, Bytes(size + kOverhead, 0x5a));
  Samples bare_samples, aead_samples, frame_samples;
  for (int round = -rounds / 10; round < rounds; ++round) {
    if (round == 0) bare_samples = aead_samples = frame_samples = {};  // what came before warmed up
    if (bare) measure(*bare, packets, bare_samples);
    measure(aead, packets, aead_samples);
    measure(frame, packets, frame_samples);
  }
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(),
                R"({"aead": "%s", "payload_bytes": %zu, "engine_aead_seal_ns": %.1f, "engine_aead_open_ns": %.1f)",
                std::string(suite.aead->display).c_str(), size, median(aead_samples.seal), median(aead_samples.open));
  std::string out = text.data();
  std::snprintf(text.data(), text.size(), R"(, "engine_frame_seal_ns": %.1f, "engine_frame_open_ns": %.1f)",
                median(frame_samples.seal), median(frame_samples.open));
  out += text.data();
  if (bare) {
    const double seal = median(bare_samples.seal), open = median(bare_samples.open);
    std::snprintf(
        text.data(), text.size(),
        R"(, "openssl_seal_ns": %.1f, "openssl_open_ns": %.1f, "ratio_aead_seal": %.3f, "ratio_aead_open": %.3f)"
        R"(, "ratio_frame_seal": %.3f, "ratio_frame_open": %.3f)",
        seal, open, median(aead_samples.seal) / seal, median(aead_samples.open) / open,
        median(frame_samples.seal) / seal, median(frame_samples.open) / open);
    out += text.data();
  }
  return out + "}";
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 400;
  if (argc > 1) {
    rounds = number_of<int>(argv[1]).value_or(0);
    if (argc > 2 || rounds < 10 || rounds > 1'000'000) {
      std::fprintf(stderr, "usage: aead_benchmark [rounds, 10 to 1000000]\n");
      return 2;
    }
  }
  try {
    std::printf("{\"openssl\": \"%s\", \"rounds\": %d, \"results\": [", OpenSSL_version(OPENSSL_VERSION_STRING),
                rounds);
    const char* separator = "\n  ";
    for (const auto& cipher : kCiphers) {
      for (const std::size_t size : {64, 256, 1200}) {
        std::printf("%s%s", separator, run(cipher, size, rounds).c_str());
        separator = ",\n  ";
      }
    }
    std::printf("\n]}\n");
  } catch (const TunnelError& error) {
    std::fprintf(stderr, "aead_benchmark: %s\n", error.what());
    return 1;
  }
  return 0;
}
