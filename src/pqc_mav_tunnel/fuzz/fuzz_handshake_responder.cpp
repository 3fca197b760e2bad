// SPDX-License-Identifier: Apache-2.0
// The gcs against a client that sends anything: raw bytes, a ClientHello of any content with a valid gate, anything
// after a genuine ClientHello, and a genuine ClientFinish with changed bytes. It must never finish unless nothing was
// changed.
#include "fuzz_handshake.hpp"

using namespace pqcmav;

namespace {

HandshakeStep feed_and_go_on(HandshakeResponder& gcs, ByteView bytes, std::size_t chunk) {
  auto step = fuzz::feed(gcs, bytes, chunk);
  return gcs.gated() ? gcs.go_on(0) : std::move(step);
}

/// M1 with the input for a body and the right gate over it.
Bytes gated_hello(ByteView input) {
  auto m1 = start_frame(MessageType::client_hello, input.size() + kHashSize);
  append(m1, input);
  append(m1, gate_mac(fuzz::psk(), m1));
  return m1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto stage = data[0] & 3;
  const bool hybrid = data[0] & 4, signs = data[0] & 8, rekey = data[0] & 16;
  const std::size_t chunk = data[1];
  const ByteView input(data + 2, size - 2);

  HandshakeInitiator drone(fuzz::drone(hybrid, signs, rekey));
  HandshakeResponder gcs(fuzz::gcs(), rekey ? std::optional(fuzz::session()) : std::nullopt);
  HandshakeStep step;
  bool genuine = false;
  if (stage < 2) {
    const auto hello = stage == 0 ? Bytes(input.begin(), input.end()) : gated_hello(input);
    step = feed_and_go_on(gcs, hello, chunk);
    require(step.send.empty() || gate_good(fuzz::psk(), hello));  // a recorded one passes as well
  } else {
    const auto m2 = feed_and_go_on(gcs, drone.start(0), chunk).send;
    auto m3 = stage == 2 ? Bytes(input.begin(), input.end()) : fuzz::feed(drone, m2, 0).send;
    genuine = stage == 3 && !fuzz::changed(m3, input);
    step = fuzz::feed(gcs, m3, chunk);
  }
  require((step.status == HandshakeStatus::done) == genuine);
  require((step.status == HandshakeStatus::failed) == (gcs.error() != HandshakeError::none));
  return 0;
}
