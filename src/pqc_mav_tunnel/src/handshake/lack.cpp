// SPDX-License-Identifier: Apache-2.0
#include "handshake/lack.hpp"

#include "crypto/provider.hpp"

namespace pqcmav {
namespace {

void add(std::string& list, std::string_view entry, const char* between = " and ") {
  if (!list.empty()) list += between;
  list += entry;
}

/// An algorithm that is not here: why not, or that the two ends have two names for it.
template <typename Info>
std::string with_reason(const Info& info) {
  const auto found = find_provider(info, provider_choice());
  const auto why = found.provider == nullptr
                       ? found.lack + "; " + who_has(info)
                       : "here '" + std::string(info.name) + "', the drone's software has another name for it";
  return std::string(info.display) + " (" + why + ")";
}

/// Parts of the suite that are not in a table of 2025.
std::string later_parts(const Suite& suite) {
  std::string out;
  if (suite.kem->edition == Edition::later) add(out, suite.kem->display);
  if (suite.sig->edition == Edition::later) add(out, suite.sig->display);
  if (suite.aead->edition == Edition::later) add(out, suite.aead->display);
  return out;
}

std::string make_key(const SigInfo& sig) { return "'pqcmav keys init --sig " + std::string(sig.token) + "' makes one"; }

constexpr const char* kCommon = "a suite that both ends have ('pqcmav suites' lists what an end has)";

}  // namespace

std::uint16_t lacking(const Suite& suite, std::string_view kem_name, std::string_view sig_name) {
  std::uint16_t out = 0;
  if (resolve(*suite.kem).empty() || suite.kem->name != kem_name) out |= lacks::kKem;
  if (resolve(*suite.sig).empty() || suite.sig->name != sig_name) out |= lacks::kSignature;
  return out;
}

Families avoided_in(const Refusal& refusal) noexcept {
  return Families(refusal.code == Reject::suite_not_allowed ? refusal.retry_ms : std::uint16_t{0});
}

std::string describe_lack(const Suite& suite, const Refusal& refusal) {
  if (const auto avoided = avoided_in(refusal); !avoided.empty())
    return "The ground station makes no keys with " + avoided.text() + " any more, so not with " + suite.short_code +
           ".";
  if (refusal.code == Reject::suite_unknown) {
    const auto parts = later_parts(suite);
    if (parts.empty()) return {};
    return "The ground station does not know " + suite.short_code + ": its software is older than " + parts +
           "; update it, or choose one of the 72 core suites.";
  }
  if (refusal.code != Reject::algorithm_unavailable) return {};
  std::string names, libraries;
  const auto say = [&](const auto& info) {
    add(names, info.display);
    add(libraries, std::string(info.display) + ": " + who_has(info), ", ");
  };
  if ((refusal.retry_ms & lacks::kKem) != 0) say(*suite.kem);
  if ((refusal.retry_ms & lacks::kSignature) != 0) say(*suite.sig);
  if (!names.empty())
    return "The ground station does not have " + names + " of " + suite.short_code + ": choose " + kCommon +
           ", or give it a library that has it (" + libraries + ").";
  if ((refusal.retry_ms & lacks::kSigningKey) == 0) return {};
  return "The ground station has no signing key of " + std::string(suite.sig->display) + " for " + suite.short_code +
         ": " + make_key(*suite.sig) + " there, whose public half the drone needs; or choose another suite.";
}

std::string describe_own(const Suite& suite, Reject code, std::uint16_t what) {
  if (code == Reject::suite_not_allowed)
    return "Refused: the drone asked for " + suite.short_code + ", but this ground station avoids " +
           Families(what).text() + ". The drone is told, and takes another suite if it has one.";
  std::string names;
  if ((what & lacks::kKem) != 0) add(names, with_reason(*suite.kem));
  if ((what & lacks::kSignature) != 0) add(names, with_reason(*suite.sig));
  const auto refused = "Refused: the drone asked for " + suite.short_code + ", but this ground station has no ";
  if (!names.empty()) return refused + names + ". Give it that, or the drone " + kCommon + ".";
  return refused + "signing key of " + std::string(suite.sig->display) + ": " + make_key(*suite.sig) +
         ", whose public half the drone needs.";
}

}  // namespace pqcmav
