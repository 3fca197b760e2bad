// SPDX-License-Identifier: Apache-2.0
// Engine and its events, and the calls that need none.
#include <algorithm>

#include "convert.hpp"
#include "pqc_mav_tunnel/calls.hpp"
#include "pqc_mav_tunnel/engine.hpp"
#include "pqc_mav_tunnel/process.hpp"

namespace pqcmav::python {
namespace {

double ms(std::uint64_t ns) { return static_cast<double>(ns) / 1e6; }

py::dict state_dict(const StateEvent& event) {
  py::dict out;
  out["type"] = "state";
  out["old"] = std::string(to_string(event.before));
  out["new"] = std::string(to_string(event.after));
  out["reason"] = event.reason;
  return out;
}

py::dict log_dict(const LogEvent& event) {
  py::dict out;
  out["type"] = "log";
  out["level"] = std::string(to_string(event.level));
  out["text"] = event.text;
  return out;
}

}  // namespace

static py::dict times_dict(const HandshakeTimes& times) {
  py::dict phases, primitives, sizes, out;
  static constexpr const char* names[] = {"hello", "server_hello", "finish", "server_finish"};
  for (std::size_t i = 0; i < times.phases.size(); ++i) phases[names[i]] = ms(times.phases[i]);
  primitives["kem_keygen"] = ms(times.kem_keygen);
  primitives["kem_encaps"] = ms(times.kem_encaps);
  primitives["kem_decaps"] = ms(times.kem_decaps);
  primitives["sig_sign"] = ms(times.sig_sign);
  primitives["sig_verify"] = ms(times.sig_verify);
  primitives["x25519"] = ms(times.x25519);
  primitives["kdf"] = ms(times.kdf);
  sizes["public_key"] = times.public_key;
  sizes["ciphertext"] = times.ciphertext;
  sizes["signature"] = times.signature;
  sizes["drone_signature"] = times.drone_signature;
  sizes["bytes_sent"] = times.bytes_sent;
  sizes["bytes_received"] = times.bytes_received;
  out["phases_ms"] = phases;
  out["primitives_ms"] = primitives;
  out["sizes"] = sizes;
  out["keygen_pooled"] = times.keygen_pooled;
  return out;
}

namespace {

py::dict handshake_dict(const HandshakeEvent& event) {
  auto out = times_dict(event.times);
  out["type"] = "handshake";
  out["ok"] = event.ok;
  out["error"] = std::string(to_string(event.error));
  out["reason"] = event.reason;
  out["suite"] = event.suite;
  out["hybrid"] = event.hybrid;
  out["epoch"] = event.epoch;
  out["rekey"] = event.kind != HandshakeKind::first;
  out["kind"] = std::string(to_string(event.kind));
  out["role"] = event.drone_side ? "drone" : "gcs";
  out["peer"] = event.peer;
  out["handshake_ms"] = ms(event.duration_ns);
  return out;
}

py::dict event_dict(const Event& event) {
  auto out = std::visit(
      [](const auto& what) -> py::dict {
        using What = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<What, StateEvent>)
          return state_dict(what);
        else if constexpr (std::is_same_v<What, LogEvent>)
          return log_dict(what);
        else
          return handshake_dict(what);
      },
      event.what);
  out["drone_id"] = event.drone_id;
  out["monotonic_ns"] = event.monotonic_ns;
  return out;
}

py::dict status_dict(const LinkStatus& s) {
  py::dict out;
  out["drone_id"] = s.drone_id;
  out["state"] = std::string(to_string(s.state));
  out["suite"] = s.suite;
  out["epoch"] = s.epoch;
  out["session_id"] = s.session_id;
  out["key_age_s"] = s.key_age_s;
  out["silence_s"] = s.silence_s;
  out["peer"] = s.peer;
  out["plain_local"] = s.plain_local;
  out["plain_peer"] = s.plain_peer;
  out["last_error"] = s.last_error;
  out["hybrid"] = s.hybrid;
  out["drone_signed"] = s.drone_signed;
  out["compact"] = s.compact;
  out["ratchets"] = s.ratchets;
  out["ratchet_for_s"] = s.ratchet_for_s;
  out["key_old"] = s.key_old;
  out["shape_kbit"] = s.shape_kbit;
  out["handshakes_ok"] = s.handshakes_ok;
  out["handshakes_failed"] = s.handshakes_failed;
  out["rekeys_ok"] = s.rekeys_ok;
  out["station"] = s.station;
  out["station_role"] = s.role;
  out["term"] = s.term;
  py::list stations;
  for (const auto& each : s.stations) stations.append(each.gcs_id + " " + each.role + " " + each.address);
  out["stations"] = stations;
  out["blacklisted_suites"] = s.blacklisted_suites;
  out["pinned_suite"] = s.pinned_suite;
  out["pin_for_s"] = s.pin_for_s;
  return out;
}

void put(py::dict& out, const NamedCounters& counters) {
  for (const auto& [name, value] : counters) out[py::str(std::string(name))] = value;
}

/// A list by class for each counter.
void put(py::dict& out, const ShapeCounts& counts) {
  std::array<std::uint64_t, kShapeClasses> taken{}, sent{}, replaced{}, dropped{}, oldest_ms{};
  for (std::size_t i = 0; i < kShapeClasses; ++i) {
    taken[i] = counts[i].taken;
    sent[i] = counts[i].sent;
    replaced[i] = counts[i].replaced;
    dropped[i] = counts[i].dropped;
    oldest_ms[i] = counts[i].oldest_ms;
  }
  out["shape_taken"] = taken;
  out["shape_sent"] = sent;
  out["shape_replaced"] = replaced;
  out["shape_dropped"] = dropped;
  out["shape_oldest_ms"] = oldest_ms;
}

py::dict report_dict(const LinkReport& report) {
  static constexpr const char* names[] = {"malformed", "unknown", "seq_old", "replay", "auth_fail", "decrypt_fail"};
  py::dict out, drops;
  out["window_s"] = report.window_ms / 1e3;
  out["packets_per_s"] = report.packets_per_s_milli / 1e3;
  out["gap_p95_ms"] = report.gap_p95_us / 1e3;
  out["longest_silence_ms"] = report.longest_silence_us / 1e3;
  out["jitter_ms"] = report.jitter_us / 1e3;
  out["loss"] = report.loss_ppm / 1e6;
  out["blackouts"] = report.blackouts;
  for (std::size_t i = 0; i < kDropKinds; ++i) drops[names[i]] = report.drops[i];
  out["drops"] = drops;
  return out;
}

py::dict link_dict(const LinkQualityView& view) {
  py::dict out;
  out["drone_id"] = view.drone_id;
  out["local"] = report_dict(view.local);
  out["peer"] = view.peer ? py::object(report_dict(*view.peer)) : py::none();
  out["age_s"] = view.peer ? py::cast(view.peer_age_s) : py::none();
  out["rtt_ms"] = py::cast(view.rtt_ms);
  out["rtt_min_ms"] = py::cast(view.rtt_min_ms);
  out["clock_offset_ms"] = py::cast(view.clock_offset_ms);
  return out;
}

py::dict endpoint_dict(const EndpointStatus& endpoint) {
  py::dict out;
  out["name"] = endpoint.name;
  out["state"] = endpoint.state;
  out["good"] = endpoint.good;
  out["text"] = endpoint.text();
  put(out, endpoint.counters);
  return out;
}

template <typename Items, typename Convert>
py::list list_of(const Items& items, Convert convert) {
  py::list out;
  for (const auto& item : items) out.append(convert(item));
  return out;
}

py::dict ports_dict(const EnginePorts& ports) {
  py::dict out, plain;
  out["data"] = ports.data;
  for (const auto& [id, port] : ports.plain) plain[py::str(id)] = port;
  out["plain"] = plain;
  return out;
}

py::dict key_changes_dict(const KeyChanges& changes) {
  py::dict out;
  out["renewed"] = changes.renewed;
  out["removed"] = changes.removed;
  out["signing"] = changes.signing;
  return out;
}

py::dict drone_changes_dict(const DroneChanges& changes) {
  py::dict out;
  out["added"] = changes.added;
  out["removed"] = changes.removed;
  out["changed"] = changes.changed;
  out["restart"] = changes.restart;
  out["kept"] = changes.kept;
  return out;
}

/// Runs a change of drones without the GIL.
template <typename Change>
py::dict drone_changes(Engine& engine, const Change& change) {
  DroneChanges changes;
  {
    py::gil_scoped_release release;
    changes = change(engine);
  }
  return drone_changes_dict(changes);
}

/// Threads of the engine may be in Python when it ends: whoever waits for them must not hold what those need.
struct DeleteWithoutGil {
  void operator()(Engine* engine) const {
    py::gil_scoped_release release;
    delete engine;  // NOLINT: the deleter of a unique_ptr
  }
};
using OwnedEngine = std::unique_ptr<Engine, DeleteWithoutGil>;

/// A Python function that threads of the engine call and let go of. What it raises becomes a refusal.
class Callback {
 public:
  explicit Callback(py::object function)
      : function_(new py::object(std::move(function)), [](py::object* each) {
          py::gil_scoped_acquire gil;
          delete each;  // NOLINT: the deleter of a shared_ptr
        }) {}

  template <typename Take>
  auto call(const Take& take) const {
    py::gil_scoped_acquire gil;
    try {
      return take((*function_)());
    } catch (const py::error_already_set& error) {
      throw TunnelError(Errc::config_invalid, py::str(error.value()).cast<std::string>());
    }
  }

 private:
  std::shared_ptr<py::object> function_;
};

void set_config_source(Engine& engine, const py::object& read, const py::object& taken,
                       std::vector<std::string> files) {
  if (read.is_none()) return engine.set_config_source({});
  std::function<void()> then;
  if (!taken.is_none()) then = [done = Callback(taken)] { done.call([](const py::object&) {}); };
  engine.set_config_source(
      [source = Callback(read)] {
        return EngineConfig::from_flat(source.call([](const py::object& config) { return to_flat_config(config); }));
      },
      std::move(then), std::move(files));
}

/// An infinite wait is a year: what a clock's arithmetic holds.
std::chrono::nanoseconds seconds_of(double s) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>((s > 0 ? std::min(s, 31'536'000.0) : 0.0) * 1e9));
}

}  // namespace

void bind_engine(py::module_& module) {
  py::class_<Engine, OwnedEngine>(module, "Engine",
                                  "One end of the tunnel: sockets and threads behind a validated configuration.")
      .def(py::init([](const py::object& config) {
             return OwnedEngine(new Engine(EngineConfig::from_flat(to_flat_config(config))));
           }),
           py::arg("config"),
           "Reads keys and checks the configuration (a flat or nested mapping of config_schema() keys); opens nothing "
           "yet.")
      .def("start", &Engine::start, py::call_guard<py::gil_scoped_release>())
      .def("stop", &Engine::stop, py::call_guard<py::gil_scoped_release>())
      .def("config",
           [](const Engine& engine) {
             py::dict out;
             const auto config = engine.config();
             for (const auto& [key, value] : config.effective) out[py::str(key)] = to_python(value);
             return out;
           })
      .def("ports", [](const Engine& engine) { return ports_dict(engine.ports()); })
      .def("status", [](const Engine& engine) { return list_of(engine.status(), status_dict); })
      .def("stats",
           [](const Engine& engine) {
             return list_of(engine.stats(), [](const LinkStats& stats) {
               py::dict out;
               out["drone_id"] = stats.drone_id;
               put(out, stats.counters);
               out["window_depth"] = stats.window_depth;
               put(out, stats.shaping);
               out["endpoints"] = list_of(stats.endpoints, endpoint_dict);
               out["seal_mean_ns"] = stats.seal_ns_avg;
               out["open_mean_ns"] = stats.open_ns_avg;
               return out;
             });
           })
      .def("totals",
           [](const Engine& engine) {
             py::dict out;
             put(out, engine.totals());
             return out;
           })
      .def("refused_from",
           [](const Engine& engine) -> py::object {
             const auto most = engine.refused_from();
             if (!most) return py::none();
             return py::make_tuple(most->network, most->share);
           })
      .def("blacklist",
           [](const Engine& engine) {
             return list_of(engine.blacklist(), [](const BlacklistedSuite& entry) {
               py::dict out;
               out["suite"] = entry.suite;
               out["reason"] = entry.reason;
               out["remaining_s"] = entry.remaining_s;
               return out;
             });
           })
      .def("links", [](const Engine& engine) { return list_of(engine.links(), link_dict); })
      .def(
          "wait_events",
          [](Engine& engine, double timeout_s, std::size_t max_events) {
            std::vector<Event> events;
            {
              py::gil_scoped_release release;
              events = engine.events().wait(seconds_of(timeout_s), max_events);
            }
            return list_of(events, event_dict);
          },
          py::arg("timeout_s"), py::arg("max_events") = 64)
      .def(
          "request_rekey",
          [](Engine& engine, const std::string& drone_id, const std::string& suite, const std::string& reason,
             double timeout_s, const std::string& kind, double pin_for_s) {
            RekeyOutcome outcome;
            {
              py::gil_scoped_release release;
              outcome = engine.request_rekey(drone_id, suite, reason, seconds_of(timeout_s), kind, pin_for_s);
            }
            py::dict out;
            out["ok"] = outcome.ok;
            out["suite"] = outcome.suite;
            out["epoch"] = outcome.epoch;
            out["rekey_ms"] = outcome.duration_ms;
            out["message"] = outcome.message;
            out["pin_for_s"] = outcome.pin_for_s;
            return out;
          },
          py::arg("drone_id"), py::arg("suite") = "", py::arg("reason") = "", py::arg("timeout_s") = 60.0,
          py::arg("kind") = "", py::arg("pin_for_s") = 0.0)
      .def("reload_keys",
           [](Engine& engine) {
             KeyChanges changes;
             {
               py::gil_scoped_release release;
               changes = engine.reload_keys();
             }
             return key_changes_dict(changes);
           })
      .def("set_config_source", &set_config_source, py::arg("read"), py::arg("taken") = py::none(),
           py::arg("files") = std::vector<std::string>{})
      .def(
          "reload",
          [](Engine& engine, bool dry_run) {
            ReloadOutcome outcome;
            {
              py::gil_scoped_release release;
              outcome = engine.reload(dry_run);
            }
            auto out = key_changes_dict(outcome.keys);
            out["configuration"] = outcome.configuration;
            out["drones"] = drone_changes_dict(outcome.drones);
            return out;
          },
          py::arg("dry_run") = false)
      .def(
          "reconfigure",
          [](Engine& engine, const py::object& config) {
            const auto fresh = EngineConfig::from_flat(to_flat_config(config));
            return drone_changes(engine, [&](Engine& each) { return each.reconfigure(fresh); });
          },
          py::arg("config"))
      .def(
          "add_drone",
          [](Engine& engine, const std::string& drone_id, const py::object& settings) {
            const auto flat = to_flat_config(settings);
            return drone_changes(engine, [&](Engine& each) { return each.add_drone(drone_id, flat); });
          },
          py::arg("drone_id"), py::arg("settings") = py::dict())
      .def(
          "remove_drone",
          [](Engine& engine, const std::string& drone_id) {
            return drone_changes(engine, [&](Engine& each) { return each.remove_drone(drone_id); });
          },
          py::arg("drone_id"))
      .def(
          "end_session",
          [](Engine& engine, const std::string& drone_id) {
            KeyChanges changes;
            {
              py::gil_scoped_release release;
              changes = engine.end_session(drone_id);
            }
            return key_changes_dict(changes);
          },
          py::arg("drone_id"))
      .def("control_socket", &Engine::control_socket)
      .def("set_dangers", &Engine::set_dangers, py::arg("dangers"))
      .def("set_shape_kbit", &Engine::set_shape_kbit, py::arg("kbit"))
      .def("use_station", &Engine::use_station, py::arg("gcs_id"));

  module.def(
      "call",
      [](const std::string& name, const std::string& arguments) {
        py::gil_scoped_release release;
        return call(name, arguments);
      },
      py::arg("name"), py::arg("arguments"));
  module.def("forbid_core_dumps", &forbid_core_dumps);
}

}  // namespace pqcmav::python
