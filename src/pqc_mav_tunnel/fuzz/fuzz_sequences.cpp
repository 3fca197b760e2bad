// SPDX-License-Identifier: Apache-2.0
// Sequences of moves against both ends at once (test/sequence_player.hpp): misordered, repeated, held back, changed,
// tagged again by a holder of the keys. PQCMAV_SEEDS=<folder>: writes what to begin with there, and ends.
#include <oqs/rand.h>

#include <fstream>
#include <string>

#include "sequence_player.hpp"

using namespace pqcmav;

namespace {

/// The same input is to do the same again.
std::mt19937_64 algorithms(1);  // NOLINT(cert-msc51-cpp): repeatable
void repeatable(std::uint8_t* out, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(algorithms());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const auto* folder = std::getenv("PQCMAV_SEEDS")) {
    for (const auto& seed : test::SequencePlayer::seeds()) {
      std::ofstream out(std::string(folder) + "/" + seed.name, std::ios::binary);
      out.write(reinterpret_cast<const char*>(seed.moves.data()), static_cast<std::streamsize>(seed.moves.size()));
    }
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)test::light();  // before the algorithms' randomness is ours: the library sets its own at first
  OQS_randombytes_custom_algorithm(repeatable);
  algorithms.seed(1);
  test::SequencePlayer::play({data, size});
  return 0;
}
