// SPDX-License-Identifier: Apache-2.0
// Making and listing long-term keys; the keys themselves never cross into Python here.
#include "convert.hpp"
#include "pqc_mav_tunnel/keystore.hpp"

namespace pqcmav::python {

void bind_keys(py::module_& module) {
  module.def(
      "init_keys",
      [](const std::string& root, const std::vector<std::string>& drones, const std::vector<std::string>& sig_tokens,
         bool drone_signatures, const std::string& gcs_id, const std::vector<std::string>& stations) {
        py::gil_scoped_release release;
        init_keys(root, drones, sig_tokens, drone_signatures, gcs_id, stations);
      },
      py::arg("root"), py::arg("drone_ids"), py::arg("sig_tokens") = std::vector<std::string>{},
      py::arg("drone_signatures") = false, py::arg("gcs_id") = "gcs", py::arg("stations") = std::vector<std::string>{});
  module.def(
      "export_drone",
      [](const std::string& root, const std::string& drone, const std::string& target) {
        export_drone(root, drone, target);
      },
      py::arg("root"), py::arg("drone_id"), py::arg("target"));
  module.def(
      "list_keys",
      [](const std::string& folder) {
        py::list out;
        for (const auto& key : list_keys(folder)) {
          py::dict entry;
          entry["kind"] = key.kind;
          entry["algorithm"] = key.algorithm;
          entry["owner"] = key.owner;
          entry["fingerprint"] = key.fingerprint;
          entry["path"] = key.path;
          entry["problem"] = key.problem;
          out.append(entry);
        }
        return out;
      },
      py::arg("folder"));
}

}  // namespace pqcmav::python
