// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

namespace pqcmav::python {

const SigInfo& sig_of(const std::string& token) {
  if (const auto* sig = find_sig(token)) return *sig;
  throw TunnelError(Errc::config_invalid, "Unknown signature algorithm '" + token + "'.");
}

void refuse_arguments(const char* function, const py::args& given, const py::kwargs& named, bool skip_self) {
  std::string types;
  const auto add = [&](const std::string& name, const py::handle& value) {
    types += (types.empty() ? "" : ", ") + name + std::string(py::str(py::type::of(value).attr("__name__")));
  };
  for (std::size_t i = skip_self ? 1 : 0; i < given.size(); ++i) add("", given[i]);
  for (const auto& [name, value] : named) add(std::string(py::str(name)) + "=", value);
  throw py::type_error(std::string(function) + "() does not take (" + types +
                       ") or one of the values is out of range; help() shows its signature.");
}

}  // namespace pqcmav::python
