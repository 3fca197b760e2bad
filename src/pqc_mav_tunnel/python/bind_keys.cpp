// SPDX-License-Identifier: Apache-2.0
// Keys of a session, packets under them, and bare primitives, for the primitive benchmark and tests.
#include "convert.hpp"
#include "crypto/kem_sig.hpp"
#include "session/bundle.hpp"
#include "session/compact_header.hpp"
#include "session/control_frame.hpp"
#include "session/frame.hpp"

namespace pqcmav::python {

namespace {

/// "": what the tunnels of this process have.
ProviderChoice library(const std::string& name) {
  if (name.empty()) return provider_choice();
  if (const auto choice = provider_choice_of(name)) return *choice;
  throw TunnelError(Errc::config_invalid, "The provider is '" + name + "'; it must be auto, openssl or liboqs.");
}

std::span<const std::uint8_t, 32> key_for(const SessionKeys& keys, const std::string& direction) {
  if (direction == "d2g") return keys.k_d2g.view();
  if (direction == "g2d") return keys.k_g2d.view();
  throw TunnelError(Errc::config_invalid, "The direction is '" + direction + "'; it must be d2g or g2d.");
}

FrameType type_of(bool control, bool bundle) {
  if (control && bundle) throw TunnelError(Errc::config_invalid, "A frame is a control frame or a bundle, not both.");
  return control ? FrameType::control : bundle ? FrameType::bundle : FrameType::data;
}

py::bytes seal(SendKey& key, const py::bytes& payload, bool control, bool bundle, bool long_form) {
  const auto content = view(payload);
  Bytes packet(kOverhead + content.size());
  std::copy(content.begin(), content.end(), packet.begin() + kHeaderSize);
  const auto sealed = key.seal(type_of(control, bundle), packet, long_form);
  if (!sealed)
    throw TunnelError(Errc::crypto,
                      "The packet could not be sealed: the sequence is exhausted or the crypto library failed.");
  return to_bytes(*sealed);
}

/// A receive key with the index by which compact frames name it.
struct PyReceiveKey {
  ReceiveKey core;
  std::optional<std::uint16_t> index;

  py::tuple open(const py::bytes& datagram);
};

py::tuple PyReceiveKey::open(const py::bytes& datagram) {
  static constexpr const char* drops[] = {"malformed", "unknown", "seq_old", "replay", "auth_fail", "decrypt_fail"};
  static constexpr const char* types[] = {"data", "control", "bundle"};
  const auto dropped = [](Drop drop) { return py::make_tuple(drops[static_cast<std::size_t>(drop)], py::bytes()); };
  const auto input = view(datagram);
  Bytes packet(input.begin(), input.end());
  std::optional<Header> header;
  auto head = kHeaderSize;
  if (is_compact(packet)) {
    const auto compact = index ? parse_compact_header(packet) : std::nullopt;
    if (!compact) return dropped(Drop::malformed);
    if (compact->index != *index) return dropped(Drop::unknown);
    header = core.header_of(*compact);
    head = compact->size();
  } else {
    header = parse_header(packet);
    if (!header) return dropped(Drop::malformed);
    if (header->session_id != core.session_id() || header->epoch != core.epoch()) return dropped(Drop::unknown);
  }
  const auto opened = core.open(*header, packet, head);
  if (opened.drop) return dropped(*opened.drop);
  ControlList list;
  if (opened.type == FrameType::control && !parse_controls(opened.payload, list)) return dropped(Drop::decrypt_fail);
  BundleParts parts;
  if (opened.type == FrameType::bundle && !parse_bundle(opened.payload, parts)) return dropped(Drop::decrypt_fail);
  return py::make_tuple(types[static_cast<std::size_t>(opened.type)], to_bytes(opened.payload));
}

const KemInfo& kem_of(const std::string& token) {
  if (const auto* kem = find_kem(token)) return *kem;
  throw TunnelError(Errc::config_invalid, "Unknown KEM '" + token + "'.");
}

py::tuple pair_tuple(const KemKeyPair& pair) {
  return py::make_tuple(to_bytes(pair.public_key), to_bytes(pair.secret_key.view()));
}

void bind_primitives(py::module_& module) {
  const auto provider = py::arg("provider") = "";
  module.def(
      "kem_keypair",
      [](const std::string& token, const std::string& by) {
        return pair_tuple(Kem(kem_of(token), library(by)).keypair());
      },
      py::arg("token"), provider);
  module.def(
      "kem_encapsulate",
      [](const std::string& token, const py::bytes& public_key, const std::string& by) {
        SecretBytes shared;
        const auto ciphertext = Kem(kem_of(token), library(by)).encapsulate(view(public_key), shared);
        return py::make_tuple(to_bytes(ciphertext), to_bytes(shared.view()));
      },
      py::arg("token"), py::arg("public_key"), provider);
  module.def(
      "kem_decapsulate",
      [](const std::string& token, const py::bytes& secret_key, const py::bytes& ciphertext, const std::string& by) {
        const Kem kem(kem_of(token), library(by));
        return to_bytes(kem.decapsulate(SecretBytes(view(secret_key)), view(ciphertext)).view());
      },
      py::arg("token"), py::arg("secret_key"), py::arg("ciphertext"), provider);
  module.def(
      "sig_keypair",
      [](const std::string& token, const std::string& by) {
        return pair_tuple(Sig(sig_of(token), library(by)).keypair());
      },
      py::arg("token"), provider);
  module.def(
      "sig_sign",
      [](const std::string& token, const py::bytes& secret_key, const py::bytes& message, const std::string& by) {
        return to_bytes(Sig(sig_of(token), library(by)).sign(SecretBytes(view(secret_key)), view(message)));
      },
      py::arg("token"), py::arg("secret_key"), py::arg("message"), provider);
  module.def(
      "sig_verify",
      [](const std::string& token, const py::bytes& public_key, const py::bytes& message, const py::bytes& signature,
         const std::string& by) {
        return Sig(sig_of(token), library(by)).verify(view(public_key), view(message), view(signature));
      },
      py::arg("token"), py::arg("public_key"), py::arg("message"), py::arg("signature"), provider);
  for (const auto* name : {"kem_decapsulate", "sig_sign"}) refuse_other_function(module, name);
}

}  // namespace

void bind_keys(py::module_& module) {
  py::class_<SessionKeys> session_keys(
      module, "SessionKeys",
      "The two directional keys of one session and epoch. For tests and tools; the Engine never hands one out.");
  session_keys
      .def(py::init([](const std::string& suite, const py::bytes& session_id, std::uint8_t epoch, const py::bytes& d2g,
                       const py::bytes& g2d, const py::bytes& chain) {
             SessionKeys keys;
             keys.suite = &require_suite(suite);
             const auto id = exactly<kSessionIdSize>(session_id, "The session id");
             std::copy(id.begin(), id.end(), keys.session_id.begin());
             keys.epoch = epoch;
             keys.k_d2g = Secret<32>(exactly<kKeySize>(d2g, "k_d2g"));
             keys.k_g2d = Secret<32>(exactly<kKeySize>(g2d, "k_g2d"));
             keys.chain = Secret<32>(exactly<kKeySize>(chain, "chain"));
             return keys;
           }),
           py::arg("suite"), py::arg("session_id"), py::arg("epoch"), py::arg("k_d2g"), py::arg("k_g2d"),
           py::arg("chain") = py::bytes(std::string(kKeySize, '\0')))
      .def_property_readonly("suite", [](const SessionKeys& keys) { return keys.suite->id; })
      .def_readonly("hybrid", &SessionKeys::hybrid)
      .def_readonly("drone_signed", &SessionKeys::drone_signed)
      .def_property_readonly("session_id", [](const SessionKeys& keys) { return to_bytes(keys.session_id); })
      .def_readonly("epoch", &SessionKeys::epoch)
      .def_property_readonly("k_d2g", [](const SessionKeys& keys) { return to_bytes(keys.k_d2g.view()); })
      .def_property_readonly("k_g2d", [](const SessionKeys& keys) { return to_bytes(keys.k_g2d.view()); })
      .def_readonly("features", &SessionKeys::features)
      .def_readonly("ratchets", &SessionKeys::ratchets)
      .def_readonly("peer_index", &SessionKeys::peer_index)
      .def_property_readonly("own_index", [](const SessionKeys& keys) { return keys.own_index.value(); })
      .def_property_readonly("chain", [](const SessionKeys& keys) { return to_bytes(keys.chain.view()); })
      .def("__repr__", [](const SessionKeys& keys) {
        return "<SessionKeys " + (keys.suite ? keys.suite->id : std::string("empty")) + ">";
      });
  refuse_other_init(session_keys, "SessionKeys");

  py::class_<SendKey> send_key(module, "SendKey", "Seals packets of one key; owns its sequence counter.");
  send_key
      .def(py::init([](const SessionKeys& keys, const std::string& direction, std::optional<std::uint16_t> peer_index) {
             return std::make_unique<SendKey>(*keys.suite, keys.session_id, keys.epoch, key_for(keys, direction),
                                              peer_index);
           }),
           py::arg("keys"), py::arg("direction"), py::arg("peer_index") = py::none())
      .def("seal", &seal, py::arg("payload"), py::arg("control") = false, py::arg("bundle") = false,
           py::arg("long_form") = false)
      .def("skip_to", &SendKey::skip_to, py::arg("sequence"))
      .def("peer_has_seen", &SendKey::peer_has_seen, py::arg("sequence"));
  refuse_other_init(send_key, "SendKey");
  refuse_other_method(send_key, "seal");
  py::class_<PyReceiveKey> receive_key(module, "ReceiveKey", "Opens packets of one key, with its replay window.");
  receive_key
      .def(py::init([](const SessionKeys& keys, const std::string& direction, std::size_t window_bits,
                       std::optional<std::uint16_t> index, bool bundles) {
             ReceiveKey core(*keys.suite, keys.session_id, keys.epoch, key_for(keys, direction), window_bits, bundles);
             return std::make_unique<PyReceiveKey>(PyReceiveKey{std::move(core), index});
           }),
           py::arg("keys"), py::arg("direction"), py::arg("window_bits") = kWindowBits, py::arg("index") = py::none(),
           py::arg("bundles") = false)
      .def("open", &PyReceiveKey::open, py::arg("datagram"));
  refuse_other_init(receive_key, "ReceiveKey");
  refuse_other_method(receive_key, "open");
  bind_primitives(module);
}

}  // namespace pqcmav::python
