// SPDX-License-Identifier: Apache-2.0
#include "control/term_file.hpp"

#include <fcntl.h>

#include <fstream>

#include "keys/key_file.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr std::uint32_t kBlock = 64;

}  // namespace

TermFile::TermFile(const std::filesystem::path& folder, const std::string& drone_id)
    : file_(folder.empty() ? std::filesystem::path{} : folder / (drone_id + ".term")) {}

std::uint32_t TermFile::load() {
  std::error_code error;
  if (file_.empty() || !std::filesystem::exists(file_, error)) return 0;
  std::ifstream in(file_);
  std::string text;
  if (!std::getline(in, text)) throw TunnelError(Errc::io, "The file " + file_.string() + " cannot be read.");
  const auto number = number_of<std::uint32_t>(text);
  if (!number) throw TunnelError(Errc::key_format, "The file " + file_.string() + " does not hold a number.");
  return kept_ = *number;
}

void TermFile::keep(std::uint32_t term) {
  if (file_.empty() || term <= kept_) return;
  const auto most = term > ~kBlock ? term : term + kBlock;
  make_key_folder(file_.parent_path());
  auto temporary = file_;
  temporary += ".new";
  std::ofstream out(temporary, std::ios::trunc);
  out << most << '\n';
  out.close();
  std::error_code error;
  const bool written = out && sync_path(temporary, O_NOFOLLOW) == 0;
  if (written) std::filesystem::rename(temporary, file_, error);
  if (!written || error) throw TunnelError(Errc::io, "The file " + file_.string() + " cannot be written.");
  (void)sync_path(file_.parent_path(), O_DIRECTORY);  // which some file systems cannot do
  kept_ = most;
}

}  // namespace pqcmav
