// SPDX-License-Identifier: Apache-2.0
#include "control/return_file.hpp"

#include <algorithm>

#include "crypto/kdf.hpp"
#include "keys/key_file.hpp"

namespace pqcmav {
namespace {

// prefix, key, and what binds both to the two names.
constexpr std::size_t kGrantSize = kReturnProofPrefix + kReturnKeySize, kCheckSize = 16;

Hash check_of(std::string_view drone_id, std::string_view gcs_id, ByteView grant) {
  Bytes names;
  append_lp(names, as_bytes(drone_id));
  append_lp(names, as_bytes(gcs_id));
  return sha256({names, grant});
}

}  // namespace

ReturnFile::ReturnFile(const std::filesystem::path& folder, std::string drone_id, std::string gcs_id)
    : drone_id_(std::move(drone_id)),
      gcs_id_(std::move(gcs_id)),
      file_(folder / (drone_id_ + "." + gcs_id_ + ".key")) {}

void ReturnFile::store(const ReturnTicket& ticket) const {
  KeyFile content{KeyKind::return_grant, std::string(kReturnAlgorithm), drone_id_,
                  SecretBytes(kGrantSize + kCheckSize)};
  auto at = std::ranges::copy(ticket.prefix, content.key.mut().begin()).out;
  at = std::ranges::copy(ticket.key.view(), at).out;
  const auto check = check_of(drone_id_, gcs_id_, content.key.view().first(kGrantSize));
  std::copy_n(check.begin(), kCheckSize, at);
  make_key_folder(file_.parent_path());
  write_key_file(file_, content, Existing::is_replaced);
}

std::optional<ReturnTicket> ReturnFile::load(std::uint32_t serial_now) const {
  if (!key_file_exists(file_)) return std::nullopt;
  const auto content =
      read_key_file(file_, {KeyKind::return_grant, kReturnAlgorithm, kGrantSize + kCheckSize, drone_id_});
  const auto grant = content.key.view().first(kGrantSize);
  const auto check = check_of(drone_id_, gcs_id_, grant);
  if (!constant_time_equal(content.key.view().subspan(kGrantSize), ByteView(check).first(kCheckSize)))
    throw TunnelError(Errc::key_format, "The return grant " + file_.string() + " is damaged, or not one of " +
                                            drone_id_ + " from the ground station '" + gcs_id_ + "'.");
  ReturnTicket out;
  std::copy_n(grant.begin(), out.prefix.size(), out.prefix.begin());
  out.key = Secret<kReturnKeySize>(grant.subspan<kReturnProofPrefix, kReturnKeySize>());
  const auto serial = load_be<std::uint32_t>(out.prefix.data());
  if (serial < serial_now && serial_now - serial > kReturnGoodForHours)
    throw TunnelError(Errc::key_format, "The return grant " + file_.string() + " is older than " +
                                            std::to_string(kReturnGoodForHours / 24) + " days.");
  return out;
}

}  // namespace pqcmav
