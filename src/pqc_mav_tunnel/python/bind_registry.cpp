// SPDX-License-Identifier: Apache-2.0
// Suites, algorithms and versions.
#include <openssl/crypto.h>

#include "convert.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav::python {

AeadId aead_of(const std::string& token) {
  for (const auto& aead : aeads())
    if (aead.token == token) return aead.id;
  throw TunnelError(Errc::config_invalid,
                    "Unknown AEAD '" + token + "'; known are aesgcm, chacha20poly1305 and ascon128a.");
}

const SigInfo& sig_of(const std::string& token) {
  if (const auto* sig = find_sig(token)) return *sig;
  throw TunnelError(Errc::config_invalid, "Unknown signature algorithm '" + token + "'.");
}

namespace {

SuiteView view_of(const std::string& name) {
  if (name == "core") return SuiteView::core;
  if (name == "extended") return SuiteView::extended;
  if (name == "2025") return SuiteView::campaign_2025;
  throw TunnelError(Errc::config_invalid, "The view is '" + name + "'; it must be core, extended or 2025.");
}

py::dict suite_dict(const Suite& suite) {
  const auto& has = availability(suite);
  py::dict out;
  out["id"] = suite.id;
  out["short_code"] = suite.short_code;
  out["level"] = suite.level;
  out["core"] = suite.core;
  out["campaign_2025"] = suite.campaign_2025;
  out["kem"] = std::string(suite.kem->display);
  out["kem_family"] = std::string(suite.kem->family);
  out["kem_token"] = std::string(suite.kem->token);
  out["sig"] = std::string(suite.sig->display);
  out["sig_family"] = std::string(suite.sig->family);
  out["sig_token"] = std::string(suite.sig->token);
  out["aead"] = std::string(suite.aead->display);
  out["aead_token"] = std::string(suite.aead->token);
  out["public_key_bytes"] = suite.kem->public_key;
  out["ciphertext_bytes"] = suite.kem->ciphertext;
  out["signature_bytes"] = suite.sig->signature_max;
  out["available"] = has.available;
  out["reason"] = has.reason;
  out["kem_oqs_name"] = has.kem_name;
  out["sig_oqs_name"] = has.sig_name;
  return out;
}

/// Read-only attributes over the registry's own immutable entry.
struct SuiteRef {
  const Suite* suite;
};

}  // namespace

void bind_registry(py::module_& module) {
  py::class_<SuiteRef> info(module, "SuiteInfo", "One cipher suite of the registry; immutable.");
  info.def("as_dict", [](const SuiteRef& ref) { return suite_dict(*ref.suite); })
      .def("__getattr__",
           [](const SuiteRef& ref, const std::string& name) -> py::object {
             auto all = suite_dict(*ref.suite);
             if (!all.contains(name)) throw py::attribute_error("SuiteInfo has no attribute '" + name + "'");
             return all[py::str(name)];
           })
      .def("__eq__", [](const SuiteRef& a, const SuiteRef& b) { return a.suite == b.suite; })
      .def("__hash__", [](const SuiteRef& ref) { return std::hash<const Suite*>{}(ref.suite); })
      .def("__repr__", [](const SuiteRef& ref) { return "<SuiteInfo " + ref.suite->id + ">"; });

  module.def(
      "suites",
      [](const std::string& view, int max_level, const std::optional<std::vector<std::string>>& aead_tokens,
         const std::optional<std::vector<std::string>>& kem_families,
         const std::optional<std::vector<std::string>>& sig_families, bool only_available) {
        SuiteFilter filter;
        filter.view = view_of(view);
        filter.max_level = static_cast<std::uint8_t>(max_level);
        for (const auto& token : aead_tokens.value_or(std::vector<std::string>{}))
          filter.aeads.push_back(aead_of(token));
        filter.kem_families = kem_families.value_or(std::vector<std::string>{});
        filter.sig_families = sig_families.value_or(std::vector<std::string>{});
        filter.only_available = only_available;
        std::vector<SuiteRef> out;
        for (const auto* suite : filter_suites(filter)) out.push_back({suite});
        return out;
      },
      py::arg("view") = "core", py::arg("max_level") = 5, py::arg("aeads") = py::none(),
      py::arg("kem_families") = py::none(), py::arg("sig_families") = py::none(), py::arg("only_available") = false);
  module.def(
      "find_suite",
      [](const std::string& name) {
        if (const auto* suite = find_suite(name)) return SuiteRef{suite};
        return SuiteRef{&require_suite(name)};  // throws the sentence with the closest matches
      },
      py::arg("name"));
  module.def("closest_suites", &closest_suites, py::arg("text"), py::arg("count") = 3);
  module.def("preflight", [] {
    py::list out;
    for (const auto& check : preflight()) {
      py::dict entry;
      entry["kind"] = check.kind;
      entry["token"] = check.token;
      entry["display"] = check.display;
      entry["oqs_name"] = check.oqs_name;
      entry["available"] = check.available;
      entry["reason"] = check.reason;
      out.append(entry);
    }
    return out;
  });
  module.def("liboqs_version", &liboqs_version);
  module.def("openssl_version", [] { return std::string(OpenSSL_version(OPENSSL_VERSION_STRING)); });
}

}  // namespace pqcmav::python
