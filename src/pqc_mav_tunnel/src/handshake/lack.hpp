// SPDX-License-Identifier: Apache-2.0
// What of a suite one end has and the other not, or uses no more, as Rejects 3 and 2 say it (docs/protocol.md section 4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "handshake/handshake_messages.hpp"
#include "pqc_mav_tunnel/families.hpp"

namespace pqcmav {

/// In the place of `retry_ms`, a bit for each. 0: an older gcs, which does not say.
namespace lacks {
inline constexpr std::uint16_t kKem = 1, kSignature = 2, kSigningKey = 4;
}

/// What this end cannot compute of a suite, or calls otherwise than the other end.
std::uint16_t lacking(const Suite& suite, std::string_view kem_name, std::string_view sig_name);
/// Of a Reject 2: what the gcs avoids; nothing where it refuses the suite for another reason.
Families avoided_in(const Refusal& refusal) noexcept;
/// What the drone says of a refusal for this suite; "" where describe() says as much.
std::string describe_lack(const Suite& suite, const Refusal& refusal);
/// What the gcs says of its own.
std::string describe_own(const Suite& suite, Reject code, std::uint16_t detail);

}  // namespace pqcmav
