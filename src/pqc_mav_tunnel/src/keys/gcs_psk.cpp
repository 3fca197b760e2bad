// SPDX-License-Identifier: Apache-2.0
#include "keys/gcs_psk.hpp"

#include "crypto/kdf.hpp"

namespace pqcmav {

Psk psk_of_gcs(const Psk& psk_drone, std::string_view gcs_id) {
  Bytes info;
  append(info, as_bytes("PQMAV/3 gcs"));
  append(info, as_bytes(gcs_id));
  Psk out;
  hkdf_expand(psk_drone.view(), info, out.mut());
  return out;
}

}  // namespace pqcmav
