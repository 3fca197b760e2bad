// SPDX-License-Identifier: Apache-2.0
// Finding an algorithm of the table in the liboqs this process runs with.
#pragma once

#include <oqs/oqs.h>

#include <memory>
#include <string>
#include <string_view>

#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

struct OqsKemFree {
  void operator()(OQS_KEM* kem) const noexcept { OQS_KEM_free(kem); }
};
struct OqsSigFree {
  void operator()(OQS_SIG* sig) const noexcept { OQS_SIG_free(sig); }
};
using OqsKemHandle = std::unique_ptr<OQS_KEM, OqsKemFree>;
using OqsSigHandle = std::unique_ptr<OQS_SIG, OqsSigFree>;

struct Resolution {
  std::string_view name;  // one of the candidates, or ""
  std::string reason;     // one sentence when name is ""
};

/// Initialises liboqs once per process; cheap to call again.
void init_oqs();
/// The first candidate that is enabled and has exactly the sizes of the table. Never cached.
Resolution look_up(const KemInfo& kem);
Resolution look_up(const SigInfo& sig);

}  // namespace pqcmav
