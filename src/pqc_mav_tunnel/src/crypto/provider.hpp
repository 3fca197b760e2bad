// SPDX-License-Identifier: Apache-2.0
// A library that computes KEMs and signatures, as the engine sees it. What goes over the wire does not depend on it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bytes.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

/// One KEM of a library. All sizes are those of the table and were checked. False: the library failed.
class KemOps {
 public:
  virtual ~KemOps() = default;
  [[nodiscard]] virtual bool keypair(MutableBytes public_key, MutableBytes secret_key) const = 0;
  /// The key of a seed of the standard's form; nullopt: the library does not offer that.
  [[nodiscard]] virtual std::optional<bool> keypair_of(ByteView, MutableBytes, MutableBytes) const { return {}; }
  [[nodiscard]] virtual bool encapsulate(ByteView public_key, MutableBytes ciphertext, MutableBytes shared) const = 0;
  [[nodiscard]] virtual bool decapsulate(ByteView secret_key, ByteView ciphertext, MutableBytes shared) const = 0;
};

class SigOps {
 public:
  virtual ~SigOps() = default;
  [[nodiscard]] virtual bool keypair(MutableBytes public_key, MutableBytes secret_key) const = 0;
  /// `size` is what `signature` has room for, and then what of it was written.
  [[nodiscard]] virtual bool sign(ByteView secret_key, ByteView message, MutableBytes signature,
                                  std::size_t& size) const = 0;
  [[nodiscard]] virtual bool verify(ByteView public_key, ByteView message, ByteView signature) const noexcept = 0;
};

/// What a library has of a row of the table.
struct Lookup {
  std::string name;  // what it calls the algorithm, or ""
  std::string lack;  // when name is "": a clause, such as "liboqs 0.13.0 was built without HQC-1"
};

class Provider {
 public:
  virtual ~Provider() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;  // as the configuration has it
  [[nodiscard]] virtual std::string title() const = 0;               // for people, with its version
  /// Never cached.
  [[nodiscard]] virtual Lookup look_up(const KemInfo& kem) const = 0;
  [[nodiscard]] virtual Lookup look_up(const SigInfo& sig) const = 0;
  /// By the name that was found; null when out of memory.
  [[nodiscard]] virtual std::unique_ptr<KemOps> open(const KemInfo& kem, const std::string& name) const = 0;
  [[nodiscard]] virtual std::unique_ptr<SigOps> open(const SigInfo& sig, const std::string& name) const = 0;
};

/// Those this was built with, the preferred one first.
std::span<const Provider* const> providers();
const Provider& openssl_provider();
const Provider& liboqs_provider();  // not in a build without it

/// An algorithm of the table and who computes it here.
struct Found {
  const Provider* provider = nullptr;  // null: nobody
  std::string name;
  std::string lack;    // when nobody does, of each that was asked; who_has() goes on
  std::string reason;  // both as a sentence
};
/// By the first of the providers chosen that has it.
Found find_provider(const KemInfo& kem, ProviderChoice choice);
Found find_provider(const SigInfo& sig, ProviderChoice choice);

/// Which libraries have an algorithm of the table, for one who lacks it: "liboqs 0.16 has it". The only place that knows.
std::string who_has(const KemInfo& kem);
std::string who_has(const SigInfo& sig);

/// The choice of the tunnels that this process has open; automatic without any.
ProviderChoice provider_choice() noexcept;

/// Held by each open tunnel. Throws TunnelError(config_invalid) if another one of this process chose otherwise.
class ProviderLease {
 public:
  explicit ProviderLease(ProviderChoice choice);
  ~ProviderLease();
  ProviderLease(const ProviderLease&) = delete;
  ProviderLease& operator=(const ProviderLease&) = delete;
};

}  // namespace pqcmav
