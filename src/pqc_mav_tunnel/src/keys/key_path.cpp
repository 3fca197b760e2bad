// SPDX-License-Identifier: Apache-2.0
#include "keys/key_path.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <string>
#include <string_view>

#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {

namespace fs = std::filesystem;

namespace {

constexpr int kLinksMax = 40;  // as the kernel

/// Many systems give each user a group of the same name with nobody else in it, and folders that it can write to.
bool is_own_group(gid_t group, uid_t owner) {
  passwd user{};
  passwd* user_found = nullptr;
  ::group entry{};
  ::group* group_found = nullptr;
  std::array<char, 4096> user_text{}, group_text{};
  if (::getpwuid_r(owner, &user, user_text.data(), user_text.size(), &user_found) != 0 || user_found == nullptr ||
      ::getgrgid_r(group, &entry, group_text.data(), group_text.size(), &group_found) != 0 || group_found == nullptr)
    return false;
  const std::string_view name(user.pw_name);
  if (user.pw_gid != group || name != entry.gr_name) return false;
  for (char** member = entry.gr_mem; *member != nullptr; ++member)
    if (name != *member) return false;
  return true;
}

/// Root that meets the keys of a service most likely wants to try what the service will do.
std::string as_the_owner(uid_t owner) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  if (::geteuid() != 0 || ::getpwuid_r(owner, &entry, text.data(), text.size(), &found) != 0 || found == nullptr)
    return "";
  const std::string name(entry.pw_name);
  return "; if " + name + " is to run this, start it by: runuser -u " + name + " -- COMMAND";
}

[[noreturn]] void replaceable(const std::string& what, const std::string& remedy) {
  throw TunnelError(Errc::key_permissions,
                    what +
                        ", who could replace keys; keep keys where only root and the user who runs this can change "
                        "the path to them, or run: " +
                        remedy);
}

void check_entry(const fs::path& entry, const struct stat& status) {
  const bool folder = S_ISDIR(status.st_mode);
  const auto named = std::string(folder                    ? "The folder "
                                 : S_ISLNK(status.st_mode) ? "The link "
                                                           : "The file ") +
                     entry.string() + (folder ? " on the way to the keys" : "");
  if (status.st_uid != 0 && status.st_uid != ::geteuid())
    replaceable(named + " belongs to another user (uid " + std::to_string(status.st_uid) + ")",
                "chown -h " + std::to_string(::geteuid()) + " " + entry.string() + as_the_owner(status.st_uid));
  if (!folder || (status.st_mode & S_ISVTX) != 0) return;  // modes of files are for whoever reads them to judge
  const bool group_writes = (status.st_mode & S_IWGRP) != 0 && !is_own_group(status.st_gid, status.st_uid);
  if (group_writes || (status.st_mode & S_IWOTH) != 0)
    replaceable(named + " can be written to by other users", "chmod go-w " + entry.string());
}

fs::path target_of(const fs::path& link) {
  std::error_code error;
  auto target = fs::read_symlink(link, error);
  if (error)
    throw TunnelError(Errc::key_missing,
                      "The link " + link.string() + " cannot be read (" + error.message() + "); check where it leads.");
  return target;
}

}  // namespace

void check_key_path(const fs::path& path) {
  const auto whole = fs::absolute(path);
  std::deque<fs::path> ahead(whole.begin(), whole.end());
  fs::path at;
  for (int links = 0; !ahead.empty();) {
    const auto name = ahead.front();
    ahead.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {  // no link is left in `at`, so this is where the kernel goes too
      at = at.parent_path();
      continue;
    }
    const auto next = name.is_absolute() ? name : at / name;
    struct stat status{};
    if (::lstat(next.c_str(), &status) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return;  // reading or making it tells
      throw TunnelError(Errc::key_missing, next.string() + " on the way to the keys cannot be examined (" +
                                               system_reason(errno) + "); check the path and its owner.");
    }
    check_entry(next, status);
    if (!S_ISLNK(status.st_mode)) {
      at = next;
      continue;
    }
    if (++links > kLinksMax)
      throw TunnelError(Errc::key_missing,
                        "The link " + next.string() + " leads through too many others; give the path itself.");
    const auto target = target_of(next);
    ahead.insert(ahead.begin(), target.begin(), target.end());
  }
}

}  // namespace pqcmav
