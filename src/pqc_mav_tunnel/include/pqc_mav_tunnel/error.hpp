// SPDX-License-Identifier: Apache-2.0
// Typed errors. Set-up code (configuration, keys, sockets) throws TunnelError; the packet path never throws.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace pqcmav {

enum class Errc {      // up to suite_unavailable: is_configuration
  config_syntax,       // the file cannot be parsed
  config_unknown_key,  // a key that is not in the schema
  config_invalid,      // a value out of range or of the wrong type
  key_missing,         // a key file does not exist or cannot be read
  key_permissions,     // a secret readable by group or others
  key_format,          // not one of our key files, wrong length, wrong algorithm
  suite_unknown,
  suite_unavailable,  // known, but this liboqs lacks one of its algorithms
  address,            // a host or port that cannot be resolved
  port_in_use,
  permission,  // the system refused
  crypto,      // a crypto library call failed
  io,
  state,  // call not possible in this state
};

std::string_view to_string(Errc code) noexcept;
/// Configuration, keys or suite: the same start fails again until someone changes a file.
bool is_configuration(Errc code) noexcept;

/// what() is one sentence for a person: what was wrong, where, and what to do.
class TunnelError : public std::runtime_error {
 public:
  TunnelError(Errc code, const std::string& sentence);
  [[nodiscard]] Errc code() const noexcept { return code_; }

 private:
  Errc code_;
};

}  // namespace pqcmav
