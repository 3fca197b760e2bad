// SPDX-License-Identifier: Apache-2.0
// Connect times of protocol 3's transport over simulated links, with messages of the suites' sizes: seconds until M4 is
// at the drone. The times are simulated: the same program prints the same table on every machine.
//
//   transport_simulation [RUNS]      (default 1000; a tenth of it for the large suites)
//
// A rekey runs inside a session: as one that knows nothing of its link, and as one that knows what sessions know.
#include <cstdio>
#include <cstdlib>

#include "../test/transport_world.hpp"

namespace {

using namespace pqcmav;
using namespace pqcmav::test;

constexpr const char *kFirst = "first", *kRekey = "rekey", *kInformedRekey = "rekey, informed";

void row(const char* kind, const MessageSizes& sizes, const LinkTerms& link, std::size_t runs) {
  const bool rekey = kind == kRekey || kind == kInformedRekey;
  std::vector<double> seconds;
  double bytes = 0;
  std::size_t failed = 0;
  for (std::size_t seed = 0; seed < runs; ++seed) {
    WorldTerms terms;
    terms.sizes = sizes;
    terms.up = terms.down = link;
    terms.seed = 500'000 + seed;
    terms.in_session = rekey;
    if (kind == kInformedRekey) learn(terms);
    World world(terms);
    const bool done = world.run();
    if (!done || !world.complaint().empty()) ++failed;
    seconds.push_back(done ? world.seconds() : 300);
    bytes += static_cast<double>(world.bytes());
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("| %s | %s | %.0f | %llu | %.0f %%%s | %.2f | %.2f | %.2f | %.1f | %zu | %zu |\n", kind, sizes.name,
              link.bits_per_second / 1000, static_cast<unsigned long long>(link.round_trip / kMs), link.loss * 100,
              link.bursts ? ", bursts" : "", seconds[runs / 2], seconds[(runs * 95 + 99) / 100 - 1], seconds.back(),
              bytes / 1000 / static_cast<double>(runs), runs, failed);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const auto runs = static_cast<std::size_t>(argc > 1 ? std::max(20, std::atoi(argv[1])) : 1000);
  std::puts("| handshake | messages of | kbit/s | RTT ms | loss | p50 s | p95 s | worst s | kB | runs | failed |");
  std::puts("|---|---|---|---|---|---|---|---|---|---|---|");
  for (const auto& sizes : {kDefaultSuite, kFalconSuite, kSphincsSuite, kMcElieceSuite}) {
    for (const double rate : {10e6, 64e3}) {
      for (const std::uint64_t round_trip : {20, 100, 300}) {
        for (const auto& [loss, bursts] :
             {std::pair{0.0, false}, {0.1, false}, {0.2, false}, {0.3, false}, {0.1, true}, {0.3, true}}) {
          LinkTerms link;
          link.loss = loss;
          link.bursts = bursts;
          link.round_trip = round_trip * kMs;
          link.bits_per_second = rate;
          const auto many = loss == 0 ? 20 : sizes.m2 > 16384 ? std::max<std::size_t>(20, runs / 10) : runs;
          for (const auto* kind : {kFirst, kRekey, kInformedRekey}) row(kind, sizes, link, many);
        }
      }
    }
  }
}
