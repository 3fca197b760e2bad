// SPDX-License-Identifier: Apache-2.0
// Handshake time over its floor, per suite, in one run: the floor is the sum of the suite's primitives, each timed
// alone, plus a bare exchange of UDP datagrams of the same sizes between two threads. Prints one JSON object per suite.
//
// Key generation of Classic McEliece repeats until it succeeds: one takes three times as long as the next, and medians
// of few rounds differ by chance. So every result comes twice: as medians of all that was measured, and with the key
// generation of each handshake taken out of that handshake, and the same median of all key generations, inside and
// alone, put back on both sides.
//
//   handshake_benchmark [--rounds N] [--pool] [SUITE...]      (no suite: the 72 core suites)
// Rounds are at least N, 4 where they are slow, and as many as fit in half a second where they are quick.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "crypto/kdf.hpp"
#include "crypto/kem_sig.hpp"
#include "crypto/x25519.hpp"
#include "keys/gcs_psk.hpp"
#include "keys/key_folders.hpp"
#include "net/net.hpp"
#include "pqc_mav_tunnel/engine.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "raw_handshake.hpp"
#include "thread.hpp"

namespace {

using namespace pqcmav;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = values.size();
  return n == 0 ? 0 : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

template <typename Body>
double timed_us(Body body) {
  const auto before = now_ns();
  body();
  return static_cast<double>(now_ns() - before) / 1e3;
}

struct Sizes {
  std::size_t m1 = 0, m2 = 0, m3 = 0, m4 = 37;
};

/// The frame sizes of this suite's handshake (docs/protocol.md section 4).
Sizes sizes_of(const Suite& suite, const std::string& drone_id, std::size_t signature) {
  constexpr std::size_t x = 32;
  Sizes out;
  out.m1 = 5 + 4 + drone_id.size() + 4 + kDefaultGcsId.size() + 32 + 4 + suite.id.size() + 4 + suite.kem->name.size() +
           4 + suite.sig->name.size() + 1 + 8 + 1 + 2 + 1 + 2 + 4 + 4 + 32;
  out.m2 = 5 + 8 + 32 + 1 + 2 + 2 + 4 + suite.kem->public_key + 4 + x + 4 + signature;
  out.m3 = 5 + 4 + suite.kem->ciphertext + 4 + x + 4 + 32;
  return out;
}

bench::BareExchange bare_exchange(const Sizes& sizes) { return {sizes.m1, sizes.m2, sizes.m3, sizes.m4}; }

/// Every primitive of the handshake once, alone; times in microseconds.
struct Primitives {
  std::vector<double> keygen, sign, verify, encaps, decaps, x25519;

  void once(const Suite& suite, const KemKeyPair& signer) {
    const Kem kem(*suite.kem);
    const Sig sig(*suite.sig);
    KemKeyPair pair;
    keygen.push_back(timed_us([&] { pair = kem.keypair(); }));
    Bytes message(52, 7), signature, ciphertext;
    sign.push_back(timed_us([&] { signature = sig.sign(signer.secret_key, message); }));
    verify.push_back(timed_us([&] { (void)sig.verify(signer.public_key, message, signature); }));
    SecretBytes shared;
    encaps.push_back(timed_us([&] { ciphertext = kem.encapsulate(pair.public_key, shared); }));
    decaps.push_back(timed_us([&] { (void)kem.decapsulate(pair.secret_key, ciphertext); }));
    x25519.push_back(timed_us([&] {
      const X25519 a, b;
      Secret<32> s;
      (void)a.derive(b.public_key(), s);
      (void)b.derive(a.public_key(), s);
    }));
  }
  [[nodiscard]] double sum_us(bool with_keygen) const {
    return (with_keygen ? median(keygen) : 0.0) + median(sign) + median(verify) + median(encaps) + median(decaps) +
           median(x25519);
  }
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/pqcmav-bench-XXXXXX";
    if (::mkdtemp(name) == nullptr) std::abort();
    path = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

constexpr char kDrone[] = "bench";

struct Options {
  int rounds = 15;
  double seconds = 0.5;
  bool pool = false;
  std::vector<const Suite*> suites;
};

/// The gcs's own times of the handshake that just ended.
HandshakeTimes gcs_times(Engine& gcs) {
  for (const auto until = now_ns() + 1'000'000'000; now_ns() < until;)
    for (const auto& event : gcs.events().wait(std::chrono::milliseconds(100), EventQueue::kCapacity))
      if (const auto* handshake = std::get_if<HandshakeEvent>(&event.what)) return handshake->times;
  throw TunnelError(Errc::state, "The gcs reported no handshake.");
}

class Measurement {
 public:
  Measurement(const Suite& suite, const Options& options, const TemporaryFolder& folder, Engine& gcs)
      : suite_(suite),
        options_(options),
        gcs_(gcs),
        keys_(folder.path / "drones" / kDrone),
        signer_{keys_.gcs_public(*suite.sig), GcsKeys(folder.path / "gcs").sig_secret(*suite.sig)},
        bare_(bare_exchange(sizes_of(suite, kDrone, Sig(*suite.sig).sign(signer_.secret_key, Bytes(52, 7)).size()))) {}

  /// All quantities are measured round by round, so that noise hits them all equally.
  void rounds() {
    (void)handshake();  // warms caches
    const auto until = now_ns() + static_cast<std::uint64_t>(options_.seconds * 1e9);
    for (int round = 0; round < options_.rounds || (now_ns() < until && round < 100); ++round) {
      const auto [total, keygen] = handshake();
      hashes_.push_back(hashing_us());
      totals_.push_back(total);
      rests_.push_back(total - keygen);
      if (keygen > 0) keygens_.push_back(keygen);
      exchanges_.push_back(bare_.once_us());
      primitives_.once(suite_, signer_);
      keygens_.push_back(primitives_.keygen.back());
      if (primitives_.sum_us(true) > 200'000 && round >= 3) break;
    }
  }

  void print() const {
    const auto udp = median(exchanges_), rest_floor = primitives_.sum_us(false) + udp;
    const auto floor = primitives_.sum_us(!options_.pool) + udp;
    const auto same_keygen = options_.pool ? 0.0 : median(keygens_);
    std::printf(
        "{\"suite\": \"%s\", \"hybrid\": true, \"pool\": %s, \"handshake_us\": %.1f, \"floor_us\": %.1f, \"ratio\": "
        "%.3f, \"ratio_same_keygen\": %.3f, \"udp_us\": %.1f, \"keygen_us\": %.1f, \"sign_us\": %.1f, \"verify_us\": "
        "%.1f, \"encaps_us\": %.1f, \"decaps_us\": %.1f, \"x25519_us\": %.1f, \"hashing_us\": %.1f, \"rounds\": %zu}\n",
        suite_.id.c_str(), options_.pool ? "true" : "false", median(totals_), floor, median(totals_) / floor,
        (median(rests_) + same_keygen) / (rest_floor + same_keygen), udp, median(keygens_), median(primitives_.sign),
        median(primitives_.verify), median(primitives_.encaps), median(primitives_.decaps), median(primitives_.x25519),
        median(hashes_), totals_.size());
    std::fflush(stdout);
  }

 private:
  /// SHA-256 over M2 twice at each end (docs/protocol.md section 4): what a public key of a megabyte costs beyond the
  /// primitives.
  [[nodiscard]] double hashing_us() const {
    const Bytes m2(sizes_of(suite_, kDrone, suite_.sig->signature_max).m2);
    return timed_us([&] {
      for (int i = 0; i < 4; ++i) (void)sha256({m2});
    });
  }

  struct Took {
    double total_us, keygen_us;
  };

  /// With the pool: one that found a key ready. The pool's thread runs only when nothing else does, and Classic
  /// McEliece takes long.
  Took handshake() {
    for (int attempt = 0; attempt < 50; ++attempt) {
      const auto took = attempt_handshake();
      if (!options_.pool || took.keygen_us == 0) return took;
    }
    throw TunnelError(Errc::state, suite_.id + ": the key pool stays empty; is the machine busy?");
  }

  Took attempt_handshake() {
    InitiatorParams params;
    params.suite = &suite_;
    params.drone_id = kDrone;
    params.psk = psk_of_gcs(keys_.psk(), kDefaultGcsId);
    params.gcs_public_key = signer_.public_key;
    if (options_.pool)
      std::this_thread::sleep_for(std::chrono::milliseconds(suite_.kem->public_key > 100'000 ? 600 : 60));
    const auto took = bench::shake_hands(std::move(params), resolve("127.0.0.1", gcs_.ports().data, false, SOCK_DGRAM));
    const auto times = gcs_times(gcs_);
    return {static_cast<double>(took) / 1e3, static_cast<double>(times.kem_keygen) / 1e3};
  }

  const Suite& suite_;
  const Options& options_;
  Engine& gcs_;
  DroneKeys keys_;
  KemKeyPair signer_;
  bench::BareExchange bare_;
  std::vector<double> totals_, rests_, keygens_, exchanges_, hashes_;
  Primitives primitives_;
};

int run(Options options) {
  if (options.suites.empty()) options.suites = suites_in(SuiteView::core);
  const TemporaryFolder folder;
  init_keys(folder.path, {kDrone});
  FlatConfig config = {{"role", std::string("gcs")},
                       {"keys", (folder.path / "gcs").string()},
                       {"bind", std::string("127.0.0.1")},
                       {"drones", std::vector<std::string>{kDrone}},
                       {"data_port", std::int64_t{0}},
                       {"handshakes_per_drone_s", 10000.0},
                       {"key_pool_depth", std::int64_t{options.pool ? 1 : 0}}};
  Engine gcs(EngineConfig::from_flat(config));
  gcs.start();
  std::string problem;
  // On a large stack, as the drone's control thread.
  BigThread work([&] {
    try {
      bool warm = false;
      for (const auto* suite : options.suites) {
        if (!availability(*suite).available) continue;
        // The first suite would pay for the process's and the processor's start.
        if (!std::exchange(warm, true)) Measurement(*suite, options, folder, gcs).rounds();
        Measurement measurement(*suite, options, folder, gcs);
        measurement.rounds();
        measurement.print();
      }
    } catch (const TunnelError& error) {
      problem = error.what();
    }
  });
  work.join();
  gcs.stop();
  if (!problem.empty()) throw TunnelError(Errc::state, problem);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      if (argument == "--rounds" && i + 1 < argc)
        options.rounds = std::max(2, std::atoi(argv[++i]));
      else if (argument == "--pool")
        options.pool = true;
      else
        options.suites.push_back(&require_suite(argument));
    }
    return run(std::move(options));
  } catch (const TunnelError& error) {
    std::cerr << "handshake_benchmark: " << error.what() << '\n';
    return 1;
  }
}
