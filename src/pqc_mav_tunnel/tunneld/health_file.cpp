// SPDX-License-Identifier: Apache-2.0
#include "health_file.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "clock.hpp"
#include "text.hpp"

namespace pqcmav {

namespace fs = std::filesystem;

std::string write_health(const fs::path& file, const std::vector<LinkStatus>& links) {
  auto fresh = file;
  fresh += ".new";
  std::ofstream out(fresh, std::ios::trunc);
  out << now_ns() << '\n';
  for (const auto& link : links) {
    out << link.drone_id << ' ' << to_string(link.state);
    if (!link.suite.empty()) out << ' ' << link.suite;
    out << '\n';
  }
  out.close();
  std::error_code error;
  if (out) fs::rename(fresh, file, error);
  if (out && !error) return "";
  return "Cannot write " + file.string() + ": " + (error ? error.message() : system_reason(errno)) + "; " +
         kHealthFileVariable + " names a file in a folder that this user can write to.";
}

Health read_health(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t written_ns = 0;
  if (!(in >> written_ns)) return {false, "There is no running pqcmav-tunneld that writes " + file.string() + "."};
  in.ignore();
  const std::string links{std::istreambuf_iterator<char>(in), {}};
  const auto now = now_ns();
  // A time to come is one from before the machine's last start.
  if (written_ns > now || now - written_ns > to_ns(kHealthLimit))
    return {false, "pqcmav-tunneld hangs or is gone: " + file.string() + " is older than " +
                       std::to_string(kHealthLimit.count()) + " s."};
  return {true, links};
}

}  // namespace pqcmav
