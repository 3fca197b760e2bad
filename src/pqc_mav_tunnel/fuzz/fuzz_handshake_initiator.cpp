// SPDX-License-Identifier: Apache-2.0
// The drone against a gcs that sends anything: raw bytes in place of a ServerHello, a refusal with a good MAC, a
// ServerHello that is correctly signed, or anything after a genuine ServerHello. It must never finish, and must believe
// no refusal but that one.
#include "fuzz_handshake.hpp"

using namespace pqcmav;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto stage = data[0] & 3;
  const bool hybrid = data[0] & 4, signs = data[0] & 8, rekey = data[0] & 16;
  const std::size_t chunk = data[1];
  const ByteView input(data + 2, size - 2);

  HandshakeInitiator drone(fuzz::drone(hybrid, signs, rekey));
  const auto m1 = drone.start(0);
  HandshakeStep step;
  if (stage == 1) {
    if (input.size() < 3) return 0;
    const auto code = input[0];
    const auto retry_ms = load_be<std::uint16_t>(input.data() + 1);
    const auto mac = reject_mac(fuzz::psk(), m1, code, retry_ms);
    step = fuzz::feed(drone, encode_reject({static_cast<Reject>(code), retry_ms, mac}), chunk);
    const bool busy = code == static_cast<std::uint8_t>(Reject::busy);
    require(step.busy_ms.has_value() == busy && (step.status == HandshakeStatus::working) == busy);
    if (busy) step = fuzz::feed(drone, input.subspan(3), chunk);  // an M2 is still welcome
  } else if (stage == 2) {
    auto m2 = start_frame(MessageType::server_hello, 0);
    append(m2, input);
    const auto to_sign = server_hello_to_sign(sha256({challenge(), m1, input}));
    finish_server_hello(m2, Sig(*fuzz::suite().sig).sign(fuzz::signing_pair().secret_key, to_sign));
    step = fuzz::feed(drone, m2, chunk);
  } else {
    if (stage == 3) {
      HandshakeResponder gcs(fuzz::gcs(), rekey ? std::optional(fuzz::session()) : std::nullopt);
      fuzz::feed(gcs, m1, 0);
      fuzz::feed(drone, gcs.go_on(0).send, chunk);
    }
    step = fuzz::feed(drone, input, chunk);
  }
  require(step.status != HandshakeStatus::done);
  require((step.status == HandshakeStatus::failed) == (drone.error() != HandshakeError::none));
  require(stage == 1 || drone.error() != HandshakeError::rejected);
  return 0;
}
