// SPDX-License-Identifier: Apache-2.0
#include "console/wanted_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

#include "fd.hpp"
#include "keys/key_file.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kOpen = "open\n", kClosed = "closed\n";

}  // namespace

std::optional<bool> WantedFile::open() const {
  if (file_.empty()) return std::nullopt;
  const Fd fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat there{};
  if (!fd || ::fstat(fd.get(), &there) != 0 || there.st_uid != ::geteuid()) return std::nullopt;
  std::array<char, 16> bytes{};
  const auto got = S_ISREG(there.st_mode) ? ::read(fd.get(), bytes.data(), bytes.size()) : -1;
  return got > 0 && std::string_view(bytes.data(), static_cast<std::size_t>(got)) == kOpen;
}

std::string WantedFile::keep(bool open) const {
  if (file_.empty()) return "";
  const auto fresh = temporary_beside(file_);
  std::error_code error;
  std::ofstream out(fresh, std::ios::trunc);
  out << (open ? kOpen : kClosed);
  out.close();
  auto why = system_reason(errno);
  if (out) fs::rename(fresh, file_, error);
  if (out && !error) return "";
  if (error) why = error.message();
  fs::remove(fresh, error);
  return "Cannot keep in " + file_.string() + " that the tunnel is to be " + (open ? "open" : "closed") +
         ", for a start after a crash: " + why + '.';
}

void WantedFile::forget() const {
  std::error_code error;
  if (!file_.empty()) fs::remove(file_, error);
}

}  // namespace pqcmav
