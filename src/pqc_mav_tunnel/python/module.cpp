// SPDX-License-Identifier: Apache-2.0
// The extension module pqc_mav_tunnel._engine.
#include "convert.hpp"

namespace pqcmav::python {

py::object to_python(const ConfigValue& value) {
  return std::visit([](const auto& each) { return py::cast(each); }, value);
}

namespace {

ConfigValue to_value(const std::string& key, const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) {
    try {
      return value.cast<std::int64_t>();
    } catch (const py::cast_error&) {
      throw TunnelError(Errc::config_invalid, "'" + key + "' is " + std::string(py::str(value)).substr(0, 40) +
                                                  ", a number beyond all limits.");
    }
  }
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::sequence>(value) && !py::isinstance<py::bytes>(value)) {
    std::vector<std::string> out;
    for (const auto item : py::reinterpret_borrow<py::sequence>(value)) {
      if (!py::isinstance<py::str>(item))
        throw TunnelError(Errc::config_invalid, "'" + key + "' must be a list of strings.");
      out.push_back(item.cast<std::string>());
    }
    return out;
  }
  throw TunnelError(Errc::config_invalid, "'" + key + "' has a value of an unsupported type (" +
                                              std::string(py::str(py::type::of(value).attr("__name__"))) + ").");
}

void flatten(const py::handle& mapping, const std::string& prefix, FlatConfig& out) {
  if (!py::hasattr(mapping, "items")) throw py::type_error("The configuration must be a mapping of keys to values.");
  for (const auto item : mapping.attr("items")()) {
    const auto pair = item.cast<py::tuple>();
    const auto key = prefix + std::string(py::str(pair[0]));
    if (py::hasattr(pair[1], "items"))
      flatten(pair[1], key + ".", out);
    else
      out[key] = to_value(key, pair[1]);
  }
}

}  // namespace

FlatConfig to_flat_config(const py::handle& mapping) {
  FlatConfig out;
  flatten(mapping, "", out);
  return out;
}

}  // namespace pqcmav::python

PYBIND11_MODULE(_engine, module) {
  namespace py = pybind11;
  module.doc() = "The PQC-MAV engine: the tunnel, and the primitives that it is made of.";
  // TunnelError carries its code as an attribute, so that a script can tell refusals apart.
  static PyObject* error_type = PyErr_NewException("pqc_mav_tunnel.TunnelError", PyExc_RuntimeError, nullptr);
  module.attr("TunnelError") = py::reinterpret_borrow<py::object>(error_type);
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const pqcmav::TunnelError& error) {
      auto instance = py::reinterpret_borrow<py::object>(error_type)(error.what());
      instance.attr("code") = std::string(pqcmav::to_string(error.code()));
      instance.attr("is_configuration") = pqcmav::is_configuration(error.code());
      PyErr_SetObject(error_type, instance.ptr());
    }
  });
  pqcmav::python::bind_engine(module);
  pqcmav::python::bind_keys(module);
}
