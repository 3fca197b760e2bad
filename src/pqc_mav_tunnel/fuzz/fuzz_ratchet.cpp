// SPDX-License-Identifier: Apache-2.0
// Both ends of a ratchet against a peer that sends anything: raw bytes, an R1 of any content, and genuine messages with
// changed bytes. Neither may finish unless nothing was changed, and a refusal must be the gcs' own.
#include "fuzz_handshake.hpp"
#include "handshake/ratchet.hpp"

using namespace pqcmav;

namespace {

RunningSession running(bool hybrid, std::uint8_t ratchets) {
  auto out = fuzz::session();
  out.suite = &fuzz::suite();
  out.hybrid = hybrid;
  out.features = features::kRatchet;
  out.ratchets = ratchets;
  return out;
}

RatchetParams drone(bool hybrid, bool fresh) {
  RatchetParams out;
  out.session = running(hybrid, 0);
  out.psk = fuzz::psk();
  out.fresh = fresh;
  out.random = fuzz::counter();
  return out;
}

RatchetTerms gcs(bool hybrid, bool barred) {
  RatchetTerms out;
  out.session = running(hybrid, barred ? kRatchetsInARow : std::uint8_t{0});
  out.psk = fuzz::psk();
  out.random = fuzz::counter();
  return out;
}

/// What answers R1: R2 with new keys, the refusal of this very R1, or nothing.
void check(const RatchetResponder& responder, const HandshakeStep& step, ByteView r1) {
  const bool refused = responder.error() == HandshakeError::refused_locally;
  require((step.status == HandshakeStatus::failed) == (responder.error() != HandshakeError::none));
  require(step.send.empty() == (step.status == HandshakeStatus::failed && !refused));
  if (!refused) return;
  const auto code = static_cast<std::uint8_t>(Reject::epoch);
  require(step.send == encode_reject({Reject::epoch, 0, ratchet_reject_mac(fuzz::psk(), r1, code, 0)}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto stage = data[0] & 3;
  const bool hybrid = data[0] & 4, fresh = data[0] & 8, barred = data[0] & 16;
  const ByteView input(data + 1, size - 1);

  RatchetInitiator initiator(drone(hybrid, fresh));
  RatchetResponder responder(gcs(hybrid, barred));
  auto r1 = initiator.start(0);
  if (stage == 0) {  // as it comes, and once more as the body of a frame with a good header
    check(responder, responder.take(input, 0), input);
    auto framed = start_frame(MessageType::ratchet_hello, input.size());
    append(framed, input);
    RatchetResponder second(gcs(hybrid, barred));
    check(second, second.take(framed, 0), framed);
    return 0;
  }
  const bool other_hello = stage == 1 && fuzz::changed(r1, input);
  const auto answer = responder.take(r1, 0);
  check(responder, answer, r1);
  auto r2 = stage == 2 ? Bytes(input.begin(), input.end()) : answer.send;
  const bool other_answer = stage == 2 || (stage == 3 && !r2.empty() && fuzz::changed(r2, input));
  const auto step = initiator.on_data(r2, 0);
  const bool genuine = !barred && !other_hello && !other_answer;
  require((step.status == HandshakeStatus::done) == genuine);
  return 0;
}
