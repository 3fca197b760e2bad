// SPDX-License-Identifier: Apache-2.0
#include "console/local_socket.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "constants.hpp"
#include "crypto/kdf.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunFolder = "/run/pqcmav";
constexpr int kWaiting = 16;  // connections that wait to be accepted

[[noreturn]] void refuse_socket(const fs::path& path, const std::string& why, Errc code = Errc::permission) {
  throw TunnelError(code, "The control socket " + path.string() + " cannot be opened: " + why +
                              " Set 'control_socket' to another path, or to 'off'.");
}

bool writable_folder(const fs::path& folder, mode_t made_with) {
  if (::mkdir(folder.c_str(), made_with) != 0 && errno != EEXIST) return false;
  return fs::is_directory(folder) && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

/// The folder for 'auto'.
fs::path run_folder() {
  if (const fs::path named = environment(kRunFolderVariable); !named.empty()) {
    if (!writable_folder(named, 0700)) refuse_socket(named, "this user cannot write to that folder.");
    return named;
  }
  if (writable_folder(kRunFolder, 0755)) return kRunFolder;
  const fs::path own = environment("XDG_RUNTIME_DIR");
  if (own.is_absolute() && writable_folder(own / "pqcmav", 0700)) return own / "pqcmav";
  refuse_socket(kRunFolder, "this user cannot write to that folder, and XDG_RUNTIME_DIR names no other one.");
}

gid_t group_id(const fs::path& path, const std::string& name) {
  std::vector<char> room(16384);
  group found{};
  group* result = nullptr;
  ::getgrnam_r(name.c_str(), &found, room.data(), room.size(), &result);
  if (result == nullptr)
    refuse_socket(path, "there is no group '" + name + "' ('control_socket_group').", Errc::config_invalid);
  return result->gr_gid;
}

sockaddr_un address_of(const fs::path& path) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  if (path.string().size() >= sizeof out.sun_path) refuse_socket(path, "the path is too long.", Errc::config_invalid);
  std::memcpy(out.sun_path, path.c_str(), path.string().size());
  return out;
}

/// Only one process at a time looks whether a socket is alive and puts its own in place. A lock that somebody holds for
/// good keeps nobody from starting.
Fd folder_lock(const fs::path& folder) {
  Fd out(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int tries = 0; out && ::flock(out.get(), LOCK_EX | LOCK_NB) != 0 && tries < 50; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return out;
}

/// Refuses unless nothing is there, or a socket that nobody listens on.
void check_free(const fs::path& path) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) != 0) return;
  if (!S_ISSOCK(there.st_mode)) refuse_socket(path, "there is a file that is no socket.");
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto address = address_of(path);
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN)
    refuse_socket(path, "another engine serves it.", Errc::port_in_use);
  if (errno != ECONNREFUSED && errno != ENOENT) refuse_socket(path, system_reason(errno) + '.');
}

/// A name beside the final one that nobody else uses.
fs::path passing_name(const fs::path& path) {
  return path.parent_path() / ('.' + std::to_string(random_number<std::uint32_t>()));
}

}  // namespace

std::string socket_name(const EngineConfig& config) {
  if (config.role == Role::drone) return "drone-" + config.drone_id + ".sock";
  return config.gcs_id == kDefaultGcsId ? "gcs.sock" : "gcs-" + config.gcs_id + ".sock";
}

LocalSocket::LocalSocket(const EngineConfig& config) {
  const auto path =
      config.control_socket == "auto" ? run_folder() / socket_name(config) : fs::path(config.control_socket);
  listen_at(path, config.control_socket_mode, config.control_socket_group);
}

/// Under another name first: it takes the final one when its owner and mode are right, at once and whole.
void LocalSocket::listen_at(const fs::path& path, mode_t mode, const std::string& group) {
  (void)address_of(path);
  const auto lock = folder_lock(path.parent_path());
  check_free(path);
  const auto passing = passing_name(path);
  const auto address = address_of(passing);
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    refuse_socket(path, system_reason(errno) + '.');
  const auto give_up = [&](const std::string& why) {
    ::unlink(passing.c_str());
    refuse_socket(path, why);
  };
  try {
    if (!group.empty() && ::lchown(passing.c_str(), static_cast<uid_t>(-1), group_id(path, group)) != 0)
      give_up("it cannot be given to the group '" + group + "': " + system_reason(errno) +
              "; the user that runs the engine must be a member of it.");
  } catch (const TunnelError&) {
    ::unlink(passing.c_str());
    throw;
  }
  struct stat made{};
  // Nobody can connect before it listens.
  if (::chmod(passing.c_str(), mode) != 0 || ::lstat(passing.c_str(), &made) != 0 ||
      ::listen(fd.get(), kWaiting) != 0 || ::rename(passing.c_str(), path.c_str()) != 0)
    give_up(system_reason(errno) + '.');
  fd_ = std::move(fd);
  path_ = path;
  device_ = made.st_dev;
  inode_ = made.st_ino;
}

void LocalSocket::allow(const EngineConfig& config) const {
  const auto& group = config.control_socket_group;
  const auto gid = group.empty() ? static_cast<gid_t>(-1) : group_id(path_, group);
  if (::lchown(path_.c_str(), static_cast<uid_t>(-1), gid) != 0 ||
      ::chmod(path_.c_str(), config.control_socket_mode) != 0)
    refuse_socket(path_, "it cannot be given to those who may use it: " + system_reason(errno) + '.');
}

LocalSocket::LocalSocket(LocalSocket&& other) noexcept
    : fd_(std::move(other.fd_)), path_(std::move(other.path_)), device_(other.device_), inode_(other.inode_) {
  other.path_.clear();
}

LocalSocket::~LocalSocket() {
  struct stat there{};
  if (!path_.empty() && ::lstat(path_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == inode_)
    ::unlink(path_.c_str());
}

std::optional<LocalSocket> open_local_socket(const EngineConfig& config, EventQueue& events) {
  if (config.control_socket == "off") return std::nullopt;
  try {
    return LocalSocket(config);
  } catch (const TunnelError& error) {
    if (config.control_socket != "auto") throw;
    events.log(LogLevel::info, "", error.what());
    return std::nullopt;
  }
}

}  // namespace pqcmav
