// SPDX-License-Identifier: Apache-2.0
// Who computes what of the table in this process. Looked up once: a library does not change while it is loaded.
#include <array>
#include <map>
#include <mutex>

#include "crypto/provider.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr std::array kChoices{ProviderChoice::automatic, ProviderChoice::openssl, ProviderChoice::liboqs};

struct Chosen {
  std::mutex mutex;
  std::size_t holders = 0;
  ProviderChoice choice = ProviderChoice::automatic;
};
Chosen& chosen() {
  static Chosen state;
  return state;
}

bool admits(ProviderChoice choice, const Provider& provider) {
  return choice == ProviderChoice::automatic || to_string(choice) == provider.name();
}

template <typename Info>
std::string libraries_with(const Info& info) {
  std::string liboqs = "liboqs";
  if (info.edition == Edition::superseded) liboqs += " 0.13";
  if (info.edition == Edition::later) liboqs += " 0.16";
  if (!info.standard.empty()) return "OpenSSL 3.5 and " + liboqs + " have it";
  return liboqs + " has it" + (info.edition == Edition::later ? "" : ", built as 'make setup' does");
}

/// The first that has it; or of all that were asked, why not.
template <typename Info>
Found ask(const Info& info, ProviderChoice choice) {
  std::string lack;
  const auto add = [&](const std::string& more) { lack += (lack.empty() ? "" : ", ") + more; };
  for (const auto* provider : providers()) {
    if (!admits(choice, *provider)) continue;
    auto found = provider->look_up(info);
    if (!found.name.empty()) return {provider, found.name, {}, {}};
    // Nobody expects OpenSSL to have what is no standard.
    if (choice != ProviderChoice::automatic || !info.standard.empty() || provider != &openssl_provider())
      add(found.lack);
  }
#ifdef PQCMAV_WITHOUT_LIBOQS
  if (choice != ProviderChoice::openssl) add("this was built without liboqs");
#endif
  return {nullptr, {}, lack, lack + "; " + libraries_with(info) + "."};
}

/// By address: the rows of the table live as long as the process.
template <typename Info>
const Found* known(const Info& info, ProviderChoice choice, std::span<const Info> rows) {
  static const auto map = [&] {
    std::map<std::pair<const Info*, ProviderChoice>, Found> out;
    for (const auto each : kChoices)
      for (const auto& row : rows) out.emplace(std::pair(&row, each), ask(row, each));
    return out;
  }();
  const auto found = map.find({&info, choice});
  return found == map.end() ? nullptr : &found->second;
}

template <typename Info>
Found find_any(const Info& info, ProviderChoice choice, std::span<const Info> rows) {
  const auto* found = known(info, choice, rows);
  return found != nullptr ? *found : ask(info, choice);
}

Availability assess(const Suite& suite, ProviderChoice choice) {
  const auto kem = find_provider(*suite.kem, choice);
  const auto sig = find_provider(*suite.sig, choice);
  Availability out;
  if (kem.provider != nullptr) out.kem_by = kem.provider->title();
  if (sig.provider != nullptr) out.sig_by = sig.provider->title();
  out.available = kem.provider != nullptr && sig.provider != nullptr;
  if (!out.available) out.reason = kem.provider == nullptr ? kem.reason : sig.reason;
  return out;
}

template <typename Info>
AlgorithmCheck check(const Info& info, const char* kind) {
  const auto found = find_provider(info, provider_choice());
  const bool here = found.provider != nullptr;
  return {std::string(info.token),
          std::string(info.display),
          kind,
          found.name,
          here ? found.provider->title() : "",
          found.reason,
          std::string(info.standard),
          info.edition,
          here};
}

}  // namespace

std::span<const Provider* const> providers() {
  static const std::array all{
      &openssl_provider(),
#ifndef PQCMAV_WITHOUT_LIBOQS
      &liboqs_provider(),
#endif
  };
  return all;
}

Found find_provider(const KemInfo& kem, ProviderChoice choice) { return find_any(kem, choice, kems()); }
Found find_provider(const SigInfo& sig, ProviderChoice choice) { return find_any(sig, choice, sigs()); }

std::string who_has(const KemInfo& kem) { return libraries_with(kem); }
std::string who_has(const SigInfo& sig) { return libraries_with(sig); }

std::string_view to_string(ProviderChoice choice) noexcept {
  return name_in<ProviderChoice::liboqs>({"auto", "openssl", "liboqs"}, choice, "invalid");
}

std::optional<ProviderChoice> provider_choice_of(std::string_view text) noexcept {
  for (const auto choice : kChoices)
    if (to_string(choice) == text) return choice;
  return std::nullopt;
}

ProviderChoice provider_choice() noexcept {
  const std::lock_guard lock(chosen().mutex);
  return chosen().choice;
}

ProviderLease::ProviderLease(ProviderChoice choice) {
  const std::lock_guard lock(chosen().mutex);
  auto& state = chosen();
  if (state.holders > 0 && state.choice != choice)
    throw TunnelError(Errc::config_invalid, "'provider' is " + std::string(to_string(choice)) +
                                                ", but another tunnel of this process has " +
                                                std::string(to_string(state.choice)) + "; give both the same.");
  ++state.holders;
  state.choice = choice;
}

ProviderLease::~ProviderLease() {
  const std::lock_guard lock(chosen().mutex);
  if (--chosen().holders == 0) chosen().choice = ProviderChoice::automatic;
}

std::string_view resolve(const KemInfo& kem) {
  return find_provider(kem, provider_choice()).provider != nullptr ? kem.name : std::string_view{};
}
std::string_view resolve(const SigInfo& sig) {
  return find_provider(sig, provider_choice()).provider != nullptr ? sig.name : std::string_view{};
}

const Availability& availability(const Suite& suite) { return availability(suite, provider_choice()); }

const Availability& availability(const Suite& suite, ProviderChoice choice) {
  static const auto states = [] {
    std::map<std::pair<std::string_view, ProviderChoice>, Availability> out;
    for (const auto each : kChoices)
      for (const auto& entry : all_suites())
        out.emplace(std::pair(std::string_view(entry.id), each), assess(entry, each));
    return out;
  }();
  const auto found = states.find({suite.id, choice});
  if (found == states.end())
    throw TunnelError(Errc::suite_unknown, "The suite " + suite.id + " is not in the suite table.");
  return found->second;
}

std::vector<AlgorithmCheck> preflight() {
  std::vector<AlgorithmCheck> out;
  for (const auto& kem : kems()) out.push_back(check(kem, "KEM"));
  for (const auto& sig : sigs()) out.push_back(check(sig, "SIG"));
  return out;
}

std::string providers_text() { return listed(providers(), &Provider::title); }

std::string liboqs_version() {
#ifdef PQCMAV_WITHOUT_LIBOQS
  return "none";
#else
  const auto title = liboqs_provider().title();
  return title.substr(title.find(' ') + 1);
#endif
}

}  // namespace pqcmav
