// SPDX-License-Identifier: Apache-2.0
// The extension module pqc_mav_tunnel._testing: what only tests need of the engine. It is built with them, and uses the
// types and the errors of _engine.
#include "testing.hpp"

PYBIND11_MODULE(_testing, module) {
  namespace py = pybind11;
  module.doc() = "Parts of the engine, for tests.";
  py::module_::import("pqc_mav_tunnel._engine");
  pqcmav::python::bind_parties(module);
  pqcmav::python::bind_codec(module);
}
