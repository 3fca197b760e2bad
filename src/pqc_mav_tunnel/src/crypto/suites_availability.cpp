// SPDX-License-Identifier: Apache-2.0
// What the liboqs of this process has of the table. Looked up once: a library does not change while it is loaded.
#include <map>

#include "crypto/oqs_lookup.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {
namespace {

/// By address: the rows of the table live as long as the process.
template <typename Info>
std::map<const Info*, Resolution> look_up_all(std::span<const Info> rows) {
  std::map<const Info*, Resolution> out;
  for (const auto& row : rows) out.emplace(&row, look_up(row));
  return out;
}

const std::map<const KemInfo*, Resolution>& kem_resolutions() {
  static const auto map = look_up_all(kems());
  return map;
}

const std::map<const SigInfo*, Resolution>& sig_resolutions() {
  static const auto map = look_up_all(sigs());
  return map;
}

template <typename Info>
std::string_view resolve_any(const std::map<const Info*, Resolution>& known, const Info& info) {
  const auto found = known.find(&info);
  return found == known.end() ? look_up(info).name : found->second.name;
}

Availability assess(const Suite& suite) {
  const auto& kem = kem_resolutions().at(suite.kem);
  const auto& sig = sig_resolutions().at(suite.sig);
  Availability out;
  out.kem_name = kem.name;
  out.sig_name = sig.name;
  out.available = !kem.name.empty() && !sig.name.empty();
  if (!out.available) out.reason = kem.name.empty() ? kem.reason : sig.reason;
  return out;
}

template <typename Info>
AlgorithmCheck check(const Info& info, const Resolution& found, const char* kind) {
  return {std::string(info.token), std::string(info.display), kind, std::string(found.name), found.reason,
          !found.name.empty()};
}

}  // namespace

std::string_view resolve(const KemInfo& kem) { return resolve_any(kem_resolutions(), kem); }
std::string_view resolve(const SigInfo& sig) { return resolve_any(sig_resolutions(), sig); }

const Availability& availability(const Suite& suite) {
  static const auto states = [] {
    std::map<std::string_view, Availability> out;
    for (const auto& entry : all_suites()) out.emplace(entry.id, assess(entry));
    return out;
  }();
  const auto found = states.find(suite.id);
  if (found == states.end())
    throw TunnelError(Errc::suite_unknown, "The suite " + suite.id + " is not in the suite table.");
  return found->second;
}

std::vector<AlgorithmCheck> preflight() {
  std::vector<AlgorithmCheck> out;
  for (const auto& kem : kems()) out.push_back(check(kem, kem_resolutions().at(&kem), "KEM"));
  for (const auto& sig : sigs()) out.push_back(check(sig, sig_resolutions().at(&sig), "SIG"));
  return out;
}

std::string liboqs_version() { return OQS_version(); }

}  // namespace pqcmav
