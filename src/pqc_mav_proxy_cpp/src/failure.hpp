// SPDX-License-Identifier: Apache-2.0
// A start that failed: one sentence for a person, and the exit code it ends in.
#pragma once

#include <stdexcept>
#include <string>

#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {

/// A supervisor decides by them whether another start can help.
enum class ExitCode {
  ok = 0,
  failed = 1,     // unexpected
  config = 2,     // configuration, keys or suite: the same start fails again until a file is changed
  start = 3,      // port in use, permission, ...: may pass
  finalized = 4,  // a lifecycle manager shut the node down, and it is to stay away
};

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& sentence, ExitCode code = ExitCode::config)
      : std::runtime_error(one_line(sentence)), code_(code) {}
  explicit Failure(const pqcmav::TunnelError& error)
      : Failure(error.what(), pqcmav::is_configuration(error.code()) ? ExitCode::config : ExitCode::start) {}
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

}  // namespace pqc_mav_proxy_cpp
