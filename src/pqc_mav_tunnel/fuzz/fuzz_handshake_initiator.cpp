// SPDX-License-Identifier: Apache-2.0
// The drone against a gcs that sends anything: raw bytes from the first on, after a genuine Challenge, in a ServerHello
// that is correctly signed, or after a genuine ServerHello. It must never finish.
#include "fuzz_handshake.hpp"

using namespace pqcmav;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto stage = data[0] & 3;
  const bool hybrid = data[0] & 4, signs = data[0] & 8;
  const std::size_t chunk = data[1];
  const ByteView input(data + 2, size - 2);

  HandshakeInitiator drone(fuzz::drone(hybrid, signs));
  HandshakeResponder gcs(fuzz::gcs());
  Bytes m0 = gcs.start(0), m1;
  if (stage > 0) m1 = fuzz::feed(drone, m0, chunk).send;
  HandshakeStep step;
  if (stage == 2) {
    auto m2 = start_frame(MessageType::server_hello, 0);
    append(m2, input);
    const auto to_sign = server_hello_to_sign(sha256({m0, m1, input}));
    finish_server_hello(m2, Sig(*fuzz::suite().sig).sign(fuzz::signing_pair().secret_key, to_sign));
    step = fuzz::feed(drone, m2, chunk);
  } else {
    if (stage == 3) {
      fuzz::feed(gcs, m1, 0);
      fuzz::feed(drone, gcs.go_on(0).send, chunk);
    }
    step = fuzz::feed(drone, input, chunk);
  }
  fuzz::require(step.status != HandshakeStatus::done);
  fuzz::require((step.status == HandshakeStatus::failed) == (drone.error() != HandshakeError::none));
  return 0;
}
