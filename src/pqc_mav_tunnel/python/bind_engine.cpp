// SPDX-License-Identifier: Apache-2.0
// Engine and its events, and the calls that need none.
#include <algorithm>
#include <cmath>

#include "console/views.hpp"
#include "convert.hpp"
#include "pqc_mav_tunnel/calls.hpp"
#include "pqc_mav_tunnel/door.hpp"
#include "pqc_mav_tunnel/engine.hpp"
#include "pqc_mav_tunnel/process.hpp"
#include "pqc_mav_tunnel/socket_door.hpp"

namespace pqcmav::python {
namespace {

py::object to_python(const Json& value) {
  switch (value.type()) {
    case Json::value_t::boolean: return py::bool_(value.get<bool>());
    case Json::value_t::number_integer: return py::int_(value.get<std::int64_t>());
    case Json::value_t::number_unsigned: return py::int_(value.get<std::uint64_t>());
    case Json::value_t::number_float: {
      const auto number = value.get<double>();  // not known yet: None, as JSON has null
      return std::isnan(number) ? py::object(py::none()) : py::float_(number);
    }
    case Json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      return py::reinterpret_steal<py::object>(
          PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    }
    case Json::value_t::array: {
      py::list out;
      for (const auto& each : value) out.append(to_python(each));
      return out;
    }
    case Json::value_t::object: {
      py::dict out;
      for (const auto& [name, each] : value.items()) out[py::str(name)] = to_python(each);
      return out;
    }
    default: return py::none();
  }
}

/// As the control socket has it, a handshake also under the names of its message.
py::object event_dict(const Event& event) {
  auto out = view_of(event, 0);
  out["type"] = out["event"];
  out.erase("event");
  out.erase("time");
  if (std::holds_alternative<HandshakeEvent>(event.what)) out.update(picture_of(event));
  out["monotonic_ns"] = event.monotonic_ns;
  return to_python(out);
}

constexpr auto kView = [](const auto& each) { return to_python(view_of(each)); };
constexpr auto kPicture = [](const auto& each) { return to_python(picture_of(each)); };

template <typename Items, typename Convert>
py::list list_of(const Items& items, Convert convert) {
  py::list out;
  for (const auto& item : items) out.append(convert(item));
  return out;
}

py::object picture(const Engine& engine, const std::string& of) {
  if (of == "status") return list_of(engine.status(), kPicture);
  if (of == "stats") return list_of(engine.stats(), kPicture);
  if (of == "link") return list_of(engine.links(), kPicture);
  if (of == "server") return to_python(picture_of(engine.server()));
  throw TunnelError(Errc::config_invalid,
                    "There is a picture of status, stats, link and server, and not of '" + of + "'.");
}

py::dict ports_dict(const EnginePorts& ports) {
  py::dict out, plain;
  out["data"] = ports.data;
  for (const auto& [id, port] : ports.plain) plain[py::str(id)] = port;
  out["plain"] = plain;
  return out;
}

/// For calls that wait.
template <typename Work>
auto without_gil(const Work& work) {
  py::gil_scoped_release release;
  return work();
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
  py::class_<Engine::Written>(module, "Written", "The configuration as it is written, for the engine that comes next.");
  py::class_<Engine, OwnedEngine>(module, "Engine",
                                  "One end of the tunnel: sockets and threads behind a validated configuration.")
      .def(py::init([](const py::object& config, std::optional<Engine::Written> written) {
             return OwnedEngine(new Engine(EngineConfig::from_flat(to_flat_config(config)), std::move(written)));
           }),
           py::arg("config"), py::arg("written") = py::none(),
           "Reads keys and checks the configuration (a flat or nested mapping of config_schema() keys); opens nothing "
           "yet. `written`: that of the engine before.")
      .def("start", &Engine::start, py::call_guard<py::gil_scoped_release>())
      .def("stop", &Engine::stop, py::call_guard<py::gil_scoped_release>())
      .def("config",
           [](const Engine& engine) {
             py::dict out;
             const auto config = engine.config();
             for (const auto& [key, value] : config.effective) out[py::str(key)] = to_python(value);
             return out;
           })
      .def("written", &Engine::written)
      .def(
          "for_next",
          [](const Engine& engine, const py::object& read) {
            py::dict out;
            for (const auto& [key, value] : engine.for_next(EngineConfig::from_flat(to_flat_config(read))).given)
              out[py::str(key)] = to_python(value);
            return out;
          },
          py::arg("read"))
      .def("ports", [](const Engine& engine) { return ports_dict(engine.ports()); })
      .def("status", [](const Engine& engine) { return list_of(engine.status(), kView); })
      .def("stats", [](const Engine& engine) { return list_of(engine.stats(), kPicture); })
      .def("totals", [](const Engine& engine) { return to_python(view_of(engine.totals())); })
      .def("links", [](const Engine& engine) { return list_of(engine.links(), kView); })
      .def("picture", &picture, py::arg("of"))
      .def("refused_from",
           [](const Engine& engine) -> py::object {
             const auto most = engine.refused_from();
             if (!most) return py::none();
             return py::make_tuple(most->network, most->share);
           })
      .def(
          "wait_events",
          [](Engine& engine, double timeout_s, std::size_t max_events) {
            const auto wait = [&] { return engine.events().wait(seconds_of(timeout_s), max_events); };
            return list_of(without_gil(wait), event_dict);
          },
          py::arg("timeout_s"), py::arg("max_events") = 64)
      .def(
          "request_rekey",
          [](Engine& engine, const std::string& drone_id, const std::string& suite, const std::string& reason,
             double timeout_s, const std::string& kind, double pin_for_s) {
            const auto outcome = without_gil(
                [&] { return engine.request_rekey(drone_id, suite, reason, seconds_of(timeout_s), kind, pin_for_s); });
            return to_python(Json{{"ok", outcome.ok},
                                  {"suite", outcome.suite},
                                  {"epoch", outcome.epoch},
                                  {"rekey_ms", outcome.duration_ms},
                                  {"message", outcome.message},
                                  {"pin_for_s", outcome.pin_for_s}});
          },
          py::arg("drone_id"), py::arg("suite") = "", py::arg("reason") = "", py::arg("timeout_s") = 60.0,
          py::arg("kind") = "", py::arg("pin_for_s") = 0.0)
      .def("set_config_source", &set_config_source, py::arg("read"), py::arg("taken") = py::none(),
           py::arg("files") = std::vector<std::string>{})
      .def(
          "reload",
          [](Engine& engine, bool dry_run) {
            return to_python(view_of(without_gil([&] { return engine.reload(dry_run); })));
          },
          py::arg("dry_run") = false)
      .def("control_socket", &Engine::control_socket)
      .def("set_shape_kbit", &Engine::set_shape_kbit, py::arg("kbit"));

  py::class_<Door>(module, "Door", "The control socket of an engine without the socket, for its host.")
      .def(py::init<Engine&>(), py::arg("engine"), py::keep_alive<1, 2>())
      .def("ask", &Door::ask, py::arg("request"), py::call_guard<py::gil_scoped_release>())
      .def(
          "events", [](Door& door, double timeout_s) { return door.events(seconds_of(timeout_s)); },
          py::arg("timeout_s"), py::call_guard<py::gil_scoped_release>());

  py::class_<SocketDoor>(module, "SocketDoor", "The same of an engine in another process, by its control socket.")
      .def(py::init(
               [](const std::string& path, const std::string& role, const std::string& id, const std::string& nonce) {
                 return std::make_unique<SocketDoor>(path, SocketDoor::Expected{role, id, nonce});
               }),
           py::arg("path"), py::arg("role") = "", py::arg("id") = "", py::arg("nonce") = "")
      .def("ask", &SocketDoor::ask, py::arg("request"), py::call_guard<py::gil_scoped_release>())
      .def(
          "events", [](SocketDoor& door, double timeout_s) { return door.events(seconds_of(timeout_s)); },
          py::arg("timeout_s"), py::call_guard<py::gil_scoped_release>())
      .def("hello", &SocketDoor::hello)
      .def("away", &SocketDoor::away)
      .def("stop", &SocketDoor::stop, py::call_guard<py::gil_scoped_release>());

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
