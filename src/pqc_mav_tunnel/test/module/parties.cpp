// SPDX-License-Identifier: Apache-2.0
// Both ends of handshakes and ratchets without sockets, for tests alone: their keys are handed out here.
#include <map>
#include <tuple>

#include "handshake/handshake.hpp"
#include "handshake/ratchet.hpp"
#include "testing.hpp"

namespace pqcmav::python {

namespace {

std::uint64_t now() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

py::tuple step_tuple(const HandshakeStep& step) {
  static constexpr const char* names[] = {"working", "done", "failed"};
  return py::make_tuple(names[static_cast<std::size_t>(step.status)], to_bytes(step.send));
}

/// `(session id, epoch, chain secret)` of a running session.
using SessionTuple = std::tuple<py::bytes, std::uint8_t, py::bytes>;

RunningSession running_session(const SessionTuple& session) {
  RunningSession out;
  const auto id = exactly<kSessionIdSize>(std::get<0>(session), "A session id");
  std::copy(id.begin(), id.end(), out.id.begin());
  out.epoch = std::get<1>(session);
  out.chain = SecretBytes(exactly<kKeySize>(std::get<2>(session), "A chain secret"));
  return out;
}

class PyInitiator {
 public:
  PyInitiator(const std::string& suite, const std::string& drone_id, const py::bytes& psk,
              const py::bytes& gcs_public_key, bool hybrid, const std::optional<py::bytes>& own_secret,
              const std::optional<SessionTuple>& session, const std::string& gcs_id,
              const std::optional<std::pair<py::bytes, py::bytes>>& ticket, std::uint16_t max_datagram,
              std::uint16_t features)
      : core_(params(suite, drone_id, psk, gcs_public_key, hybrid, own_secret, session, gcs_id, ticket, max_datagram,
                     features)) {}

  py::bytes start() { return to_bytes(core_.start(now())); }
  py::tuple on_data(const py::bytes& received) {
    HandshakeStep step;
    const auto bytes = view(received);
    {
      py::gil_scoped_release release;
      step = core_.on_data(bytes, now());
    }
    busy_ms_ = step.busy_ms;
    return step_tuple(step);
  }
  [[nodiscard]] std::optional<std::uint16_t> busy_ms() const { return busy_ms_; }
  HandshakeInitiator core_;

 private:
  static InitiatorParams params(const std::string& suite, const std::string& drone_id, const py::bytes& psk,
                                const py::bytes& gcs_public_key, bool hybrid,
                                const std::optional<py::bytes>& own_secret, const std::optional<SessionTuple>& session,
                                const std::string& gcs_id, const std::optional<std::pair<py::bytes, py::bytes>>& ticket,
                                std::uint16_t max_datagram, std::uint16_t features) {
    InitiatorParams out;
    out.suite = &require_suite(suite);
    out.drone_id = drone_id;
    out.gcs_id = gcs_id;
    out.hybrid = hybrid;
    out.psk = Psk(exactly<kPskSize>(psk, "The PSK"));
    const auto key = view(gcs_public_key);
    out.gcs_public_key = Bytes(key.begin(), key.end());
    if (own_secret) out.own_secret = SecretBytes(view(*own_secret));
    if (session) {
      auto running = running_session(*session);
      out.prev_session = running.id;
      out.epoch = static_cast<std::uint8_t>(running.epoch + 1);
      out.chain_prev = std::move(running.chain);
    }
    if (ticket) {
      ReturnTicket granted;
      const auto prefix = exactly<kReturnProofPrefix>(ticket->first, "The ticket's serial and address tag");
      std::copy(prefix.begin(), prefix.end(), granted.prefix.begin());
      granted.key = Secret<32>(exactly<kKeySize>(ticket->second, "The ticket's key"));
      out.ticket = std::move(granted);
    }
    out.max_datagram = max_datagram;
    out.features = features;
    out.own_index = IndexPool::make(kDroneIndices, 0)->take();
    return out;
  }
  std::optional<std::uint16_t> busy_ms_;
};

class PyResponder {
 public:
  using Psks = std::map<std::string, py::bytes>;
  using Secrets = std::map<std::string, py::bytes>;
  using Publics = std::map<std::pair<std::string, std::string>, py::bytes>;

  PyResponder(const Psks& psks, const Secrets& gcs_secrets, const Publics& drone_publics, bool require_signature,
              bool allow_pure, const std::optional<SessionTuple>& session, const std::string& gcs_id,
              std::uint16_t features)
      : state_(std::make_shared<State>()),
        core_(environment(psks, gcs_secrets, drone_publics, require_signature, allow_pure, gcs_id, features),
              session ? std::optional(running_session(*session)) : std::nullopt) {}

  py::tuple on_data(const py::bytes& received) {
    HandshakeStep step;
    const auto bytes = view(received);
    {
      py::gil_scoped_release release;
      step = core_.on_data(bytes, now());
      if (step.status == HandshakeStatus::working && core_.gated()) step = core_.go_on(now());
    }
    return step_tuple(step);
  }
  /// M1, and then a refusal (busy) instead of the work.
  py::bytes refuse_busy(const py::bytes& m1, std::uint16_t retry_ms) {
    (void)core_.on_data(view(m1), now());
    return to_bytes(core_.refuse(Reject::busy, retry_ms).send);
  }
  [[nodiscard]] int keygens() const { return state_->keygens; }

 private:
  /// Copies without Python objects: the callbacks run without the GIL.
  struct State {
    std::map<std::string, Psk> psks;
    std::map<std::string, SecretBytes> secrets;
    std::map<std::pair<std::string, std::string>, Bytes> publics;
    int keygens = 0;
  };
  std::shared_ptr<State> state_;

  std::shared_ptr<const ResponderEnv> environment(const Psks& psks, const Secrets& gcs_secrets,
                                                  const Publics& drone_publics, bool require_signature, bool allow_pure,
                                                  const std::string& gcs_id, std::uint16_t features) {
    auto s = state_;
    for (const auto& [id, psk] : psks) s->psks.emplace(id, Psk(exactly<kPskSize>(psk, "A PSK")));
    for (const auto& [token, key] : gcs_secrets) s->secrets.emplace(sig_of(token).token, SecretBytes(view(key)));
    for (const auto& [who, key] : drone_publics) {
      const auto bytes = view(key);
      s->publics.emplace(who, Bytes(bytes.begin(), bytes.end()));
    }
    auto env = std::make_shared<ResponderEnv>();
    env->gcs_id = gcs_id;
    env->features = features;
    env->receive_index = [] { return IndexPool::make(kGcsIndices, 0)->take(); };
    env->find_drone = [s, require_signature, allow_pure](std::string_view id) -> std::optional<DroneRecord> {
      const auto it = s->psks.find(std::string(id));
      if (it == s->psks.end()) return std::nullopt;
      return DroneRecord{it->second.clone(), require_signature, false, allow_pure};
    };
    env->check_suite = [](std::string_view, const Suite&, bool) { return std::optional<Reject>{}; };
    env->gcs_secret = [s](const SigInfo& sig) {
      const auto it = s->secrets.find(std::string(sig.token));
      if (it == s->secrets.end())
        throw TunnelError(Errc::key_missing, "No signing key for " + std::string(sig.display) + ".");
      return it->second.clone();
    };
    env->drone_public = [s](std::string_view id, const SigInfo& sig) -> std::optional<Bytes> {
      const auto it = s->publics.find({std::string(id), std::string(sig.token)});
      return it == s->publics.end() ? std::nullopt : std::optional(it->second);
    };
    env->kem_keypair = [s](const KemInfo& kem) {
      ++s->keygens;
      return EphemeralKem{Kem(kem).keypair(), false};
    };
    return env;
  }

 public:
  HandshakeResponder core_;
};

/// The session that a ratchet runs in, as the test describes it.
RunningSession ratchet_session(const std::string& suite, const SessionTuple& session, bool hybrid,
                               std::uint16_t features, std::uint8_t ratchets) {
  auto out = running_session(session);
  out.suite = &require_suite(suite);
  out.hybrid = hybrid;
  out.features = features;
  out.ratchets = ratchets;
  return out;
}

class PyRatchetInitiator {
 public:
  PyRatchetInitiator(const std::string& suite, const py::bytes& psk, const SessionTuple& session, bool fresh,
                     bool hybrid, std::uint16_t features, std::uint8_t ratchets)
      : core_(params(suite, psk, session, fresh, hybrid, features, ratchets)) {}
  py::bytes start() { return to_bytes(core_.start(now())); }
  py::tuple on_data(const py::bytes& received) { return step_tuple(core_.on_data(view(received), now())); }
  RatchetInitiator core_;

 private:
  static RatchetParams params(const std::string& suite, const py::bytes& psk, const SessionTuple& session, bool fresh,
                              bool hybrid, std::uint16_t features, std::uint8_t ratchets) {
    RatchetParams out;
    out.session = ratchet_session(suite, session, hybrid, features, ratchets);
    out.psk = Psk(exactly<kPskSize>(psk, "The PSK"));
    out.fresh = fresh;
    out.own_index = IndexPool::make(kDroneIndices, 0)->take();
    return out;
  }
};

class PyRatchetResponder {
 public:
  PyRatchetResponder(const std::string& suite, const py::bytes& psk, const SessionTuple& session, bool hybrid,
                     std::uint16_t features, std::uint8_t ratchets, bool key_old, std::uint16_t avoided)
      : core_(terms(suite, psk, session, hybrid, features, ratchets, key_old, avoided)) {}
  py::tuple on_data(const py::bytes& received) { return step_tuple(core_.take(view(received), now())); }
  RatchetResponder core_;

 private:
  static RatchetTerms terms(const std::string& suite, const py::bytes& psk, const SessionTuple& session, bool hybrid,
                            std::uint16_t features, std::uint8_t ratchets, bool key_old, std::uint16_t avoided) {
    RatchetTerms out;
    out.session = ratchet_session(suite, session, hybrid, features, ratchets);
    out.psk = Psk(exactly<kPskSize>(psk, "The PSK"));
    out.key_old = key_old;
    out.avoided = Families(avoided);
    out.receive_index = [] { return IndexPool::make(kGcsIndices, 0)->take(); };
    return out;
  }
};

template <typename Core, typename Class>
void bind_common(Class& cls) {
  cls.def("on_data", &Core::on_data, py::arg("received"))
      .def_property_readonly("error", [](const Core& self) { return std::string(to_string(self.core_.error())); })
      .def_property_readonly("reject_code", [](const Core& self) { return self.core_.reject_code(); })
      .def("take_keys", [](Core& self) { return self.core_.take_keys(); });
  refuse_other_method(cls, "on_data");
}

}  // namespace

void bind_parties(py::module_& module) {
  py::class_<PyInitiator> initiator(module, "Initiator", "The drone's side of one handshake, without sockets.");
  initiator
      .def(py::init<const std::string&, const std::string&, const py::bytes&, const py::bytes&, bool,
                    const std::optional<py::bytes>&, const std::optional<SessionTuple>&, const std::string&,
                    const std::optional<std::pair<py::bytes, py::bytes>>&, std::uint16_t, std::uint16_t>(),
           py::arg("suite"), py::arg("drone_id"), py::arg("psk"), py::arg("gcs_public_key"), py::arg("hybrid") = true,
           py::arg("own_secret") = py::none(), py::arg("session") = py::none(),
           py::arg("gcs_id") = std::string(kDefaultGcsId), py::arg("ticket") = py::none(),
           py::arg("max_datagram") = kDatagramLimit, py::arg("features") = 0)
      .def("start", &PyInitiator::start)
      .def_property_readonly("busy_ms", &PyInitiator::busy_ms);
  refuse_other_init(initiator, "Initiator");
  bind_common<PyInitiator>(initiator);

  py::class_<PyResponder> responder(module, "Responder", "The gcs' side of one handshake, without sockets.");
  responder
      .def(py::init<const PyResponder::Psks&, const PyResponder::Secrets&, const PyResponder::Publics&, bool, bool,
                    const std::optional<SessionTuple>&, const std::string&, std::uint16_t>(),
           py::arg("psks"), py::arg("gcs_secrets"), py::arg("drone_publics") = PyResponder::Publics{},
           py::arg("require_signature") = false, py::arg("allow_pure") = true, py::arg("session") = py::none(),
           py::arg("gcs_id") = std::string(kDefaultGcsId), py::arg("features") = 0)
      .def("refuse_busy", &PyResponder::refuse_busy, py::arg("m1"), py::arg("retry_ms"))
      .def_property_readonly("gated_keygens", &PyResponder::keygens);
  refuse_other_init(responder, "Responder");
  bind_common<PyResponder>(responder);

  py::class_<PyRatchetInitiator> ratchet(module, "RatchetInitiator", "The drone's side of a ratchet, without sockets.");
  ratchet
      .def(py::init<const std::string&, const py::bytes&, const SessionTuple&, bool, bool, std::uint16_t,
                    std::uint8_t>(),
           py::arg("suite"), py::arg("psk"), py::arg("session"), py::arg("fresh") = true, py::arg("hybrid") = true,
           py::arg("features") = features::kRatchet, py::arg("ratchets") = 0)
      .def("start", &PyRatchetInitiator::start);
  refuse_other_init(ratchet, "RatchetInitiator");
  bind_common<PyRatchetInitiator>(ratchet);

  py::class_<PyRatchetResponder> ratcheted(module, "RatchetResponder", "The gcs' side of a ratchet, without sockets.");
  ratcheted.def(py::init<const std::string&, const py::bytes&, const SessionTuple&, bool, std::uint16_t, std::uint8_t,
                         bool, std::uint16_t>(),
                py::arg("suite"), py::arg("psk"), py::arg("session"), py::arg("hybrid") = true,
                py::arg("features") = features::kRatchet, py::arg("ratchets") = 0, py::arg("key_old") = false,
                py::arg("avoided") = 0);
  refuse_other_init(ratcheted, "RatchetResponder");
  bind_common<PyRatchetResponder>(ratcheted);
}

}  // namespace pqcmav::python
