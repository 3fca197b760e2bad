// SPDX-License-Identifier: Apache-2.0
// Shared by the binding files: Python values to engine values and back.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>

#include "bytes.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav::python {

namespace py = pybind11;

inline ByteView view(const py::bytes& bytes) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) throw py::error_already_set();
  return {reinterpret_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size)};
}

inline py::bytes to_bytes(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Exactly N bytes, or a TunnelError naming `what`.
template <std::size_t N>
std::span<const std::uint8_t, N> exactly(const py::bytes& bytes, const char* what) {
  const auto all = view(bytes);
  if (all.size() != N)
    throw TunnelError(Errc::config_invalid, std::string(what) + " has " + std::to_string(all.size()) +
                                                " bytes; it must have " + std::to_string(N) + ".");
  return all.first<N>();
}

/// pybind11 shows the values of all arguments when they fit no signature of a function. Where one may be a secret this
/// signature, the last, takes what is left over and throws a TypeError that names types alone. With it the others take
/// their exact types only.
[[noreturn]] void refuse_arguments(const char* function, const py::args& given, const py::kwargs& named,
                                   bool skip_self);

template <typename Class>
void refuse_other_init(Class& cls, const char* name) {
  cls.def(py::init([name](const py::args& given, const py::kwargs& named) -> std::unique_ptr<typename Class::type> {
    refuse_arguments(name, given, named, false);
  }));
}
template <typename Class>
void refuse_other_method(Class& cls, const char* name) {
  cls.def(name, [name](const py::args& given, const py::kwargs& named) { refuse_arguments(name, given, named, true); });
}
inline void refuse_other_function(py::module_& module, const char* name) {
  module.def(name,
             [name](const py::args& given, const py::kwargs& named) { refuse_arguments(name, given, named, false); });
}

/// An algorithm by its token, or a TunnelError that names the token.
const SigInfo& sig_of(const std::string& token);

py::object to_python(const ConfigValue& value);
FlatConfig to_flat_config(const py::handle& mapping);

void bind_engine(py::module_& module);
void bind_keys(py::module_& module);

}  // namespace pqcmav::python
