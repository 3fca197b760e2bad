// Handshake time over its floor, per suite, in one run: the floor is the sum of the suite's primitives, each timed alone, plus a bare TCP exchange of
// messages of the same sizes between two threads. Prints one JSON object per suite.
//
//   handshake_bench [--rounds N] [--pool] [--pure] [SUITE...]      (no suite: the 72 core suites)
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "pqc_mav_tunnel/engine.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "pqc_mav_tunnel/oqs.hpp"
#include "pqc_mav_tunnel/x25519.hpp"
#include "src/handshake_client.hpp"
#include "src/net.hpp"
#include "src/thread.hpp"

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
  std::size_t m0 = 45, m1 = 0, m2 = 0, m3 = 0, m4 = 37;
};

/// The frame sizes of this suite's handshake (docs/protocol.md section 4).
Sizes sizes_of(const Suite& suite, bool hybrid, const std::string& drone_id, std::size_t signature) {
  const auto& names = availability(suite);
  const std::size_t x = hybrid ? 32 : 0;
  Sizes out;
  out.m1 = 5 + 4 + drone_id.size() + 32 + 4 + suite.id.size() + 4 + names.kem_name.size() + 4 + names.sig_name.size() + 1 + 8 + 1 + 32;
  out.m2 = 5 + 8 + 32 + 1 + 4 + suite.kem->public_key + 4 + x + 4 + signature;
  out.m3 = 5 + 4 + suite.kem->ciphertext + 4 + x + 4 + 32;
  return out;
}

void send_exactly(int fd, std::size_t size, const Bytes& source) {
  for (std::size_t done = 0; done < size;) {
    const auto sent = ::send(fd, source.data(), size - done, MSG_NOSIGNAL);
    if (sent <= 0) std::abort();
    done += static_cast<std::size_t>(sent);
  }
}

void receive_exactly(int fd, std::size_t size, Bytes& sink) {
  for (std::size_t done = 0; done < size;) {
    const auto got = ::recv(fd, sink.data(), std::min(sink.size(), size - done), 0);
    if (got <= 0) std::abort();
    done += static_cast<std::size_t>(got);
  }
}

/// A blocking TCP server that exchanges messages of the handshake's sizes and computes nothing.
class BareExchange {
 public:
  explicit BareExchange(const Sizes& sizes) : sizes_(sizes), listener_(open_tcp_listener(resolve("127.0.0.1", 0, true, SOCK_STREAM), "the bare exchange")) {
    address_ = local_address(listener_);
  }

  double once_us() {
    std::thread server([this] {
      pollfd wait{listener_.get(), POLLIN, 0};
      ::poll(&wait, 1, 5000);
      const Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      no_delay(peer);
      Bytes buffer(1 << 18);
      send_exactly(peer.get(), sizes_.m0, buffer);
      receive_exactly(peer.get(), sizes_.m1, buffer);
      send_exactly(peer.get(), sizes_.m2, buffer);
      receive_exactly(peer.get(), sizes_.m3, buffer);
      send_exactly(peer.get(), sizes_.m4, buffer);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the server waits in poll, as ours does
    Bytes buffer(1 << 18);
    const auto us = timed_us([&] {
      const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      no_delay(fd);
      if (::connect(fd.get(), address_.get(), address_.size) != 0) std::abort();
      receive_exactly(fd.get(), sizes_.m0, buffer);
      send_exactly(fd.get(), sizes_.m1, buffer);
      receive_exactly(fd.get(), sizes_.m2, buffer);
      send_exactly(fd.get(), sizes_.m3, buffer);
      receive_exactly(fd.get(), sizes_.m4, buffer);
    });
    server.join();
    return us;
  }

 private:
  static void no_delay(const Fd& fd) {
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  Sizes sizes_;
  Fd listener_;
  SockAddr address_;
};

/// Every primitive of the handshake once, alone; times in microseconds.
struct Primitives {
  std::vector<double> keygen, sign, verify, encaps, decaps, x25519;

  void once(const Suite& suite, const KemKeyPair& signer, bool hybrid) {
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
    x25519.push_back(hybrid ? timed_us([&] {
      const X25519 a, b;
      Secret<32> s;
      (void)a.derive(b.public_key(), s);
      (void)b.derive(a.public_key(), s);
    })
                            : 0.0);
  }
  [[nodiscard]] double sum_us(bool with_keygen) const {
    return (with_keygen ? median(keygen) : 0.0) + median(sign) + median(verify) + median(encaps) + median(decaps) + median(x25519);
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

struct Options {
  int rounds = 15;
  bool pool = false, hybrid = true;
  std::vector<const Suite*> suites;
};

void measure(const Suite& suite, const Options& options, const TemporaryFolder& folder, std::uint16_t port, int cancel) {
  const std::string id = "bench";
  const DroneKeys keys(folder.path / "drones" / id);
  const KemKeyPair signer{keys.gcs_public(*suite.sig), GcsKeys(folder.path / "gcs").sig_secret(*suite.sig)};
  const auto probe = Sig(*suite.sig).sign(signer.secret_key, Bytes(52, 7));
  BareExchange bare(sizes_of(suite, options.hybrid, id, probe.size()));

  std::vector<double> handshakes, exchanges;
  Primitives primitives;
  // Heavy suites get fewer rounds; all three quantities are measured round by round, so that noise hits them alike.
  for (int round = 0; round < options.rounds; ++round) {
    InitiatorParams params;
    params.suite = &suite;
    params.drone_id = id;
    params.hybrid = options.hybrid;
    params.psk = keys.psk();
    params.gcs_public_key = signer.public_key;
    if (options.pool) std::this_thread::sleep_for(std::chrono::milliseconds(suite.kem->public_key > 100'000 ? 600 : 60));
    auto outcome = run_client_handshake("127.0.0.1", port, std::move(params), cancel);
    if (outcome.error != HandshakeError::none) {
      std::cerr << suite.id << ": " << outcome.reason << '\n';
      std::exit(1);
    }
    if (round > 0) handshakes.push_back(static_cast<double>(outcome.duration_ns) / 1e3);  // the first warms caches
    exchanges.push_back(bare.once_us());
    primitives.once(suite, signer, options.hybrid);
    if (primitives.sum_us(true) > 200'000 && round >= 4) break;
  }
  const auto floor = primitives.sum_us(!options.pool) + median(exchanges);
  std::printf(
      "{\"suite\": \"%s\", \"hybrid\": %s, \"pool\": %s, \"handshake_us\": %.1f, \"floor_us\": %.1f, \"ratio\": %.3f, \"tcp_us\": %.1f, \"keygen_us\": %.1f, "
      "\"sign_us\": %.1f, "
      "\"verify_us\": %.1f, \"encaps_us\": %.1f, \"decaps_us\": %.1f, \"x25519_us\": %.1f, \"rounds\": %zu}\n",
      suite.id.c_str(), options.hybrid ? "true" : "false", options.pool ? "true" : "false", median(handshakes), floor, median(handshakes) / floor,
      median(exchanges), median(primitives.keygen), median(primitives.sign), median(primitives.verify), median(primitives.encaps), median(primitives.decaps),
      median(primitives.x25519), handshakes.size());
  std::fflush(stdout);
}

int run(Options options) {
  if (options.suites.empty()) options.suites = filter_suites({});
  const TemporaryFolder folder;
  init_keys(folder.path, {"bench"});
  FlatConfig config = {{"role", std::string("gcs")},        {"keys", (folder.path / "gcs").string()},
                       {"bind", std::string("127.0.0.1")},  {"drones", std::vector<std::string>{"bench"}},
                       {"handshake_port", std::int64_t{0}}, {"data_port", std::int64_t{0}},
                       {"handshakes_per_drone_s", 10000.0}, {"key_pool_depth", std::int64_t{options.pool ? 1 : 0}}};
  Engine gcs(EngineConfig::from_flat(config));
  gcs.start();
  const Fd cancel(::eventfd(0, EFD_CLOEXEC));
  const auto port = gcs.ports().handshake;
  // On a large stack, as the drone's control thread.
  BigThread work([&] {
    for (const auto* suite : options.suites)
      if (availability(*suite).available) measure(*suite, options, folder, port, cancel.get());
  });
  work.join();
  gcs.stop();
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
      else if (argument == "--pure")
        options.hybrid = false;
      else
        options.suites.push_back(&require_suite(argument));
    }
    return run(std::move(options));
  } catch (const TunnelError& error) {
    std::cerr << "handshake_bench: " << error.what() << '\n';
    return 1;
  }
}
