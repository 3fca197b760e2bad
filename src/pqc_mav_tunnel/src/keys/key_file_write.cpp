// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "crypto/kdf.hpp"
#include "fd.hpp"
#include "keys/key_file.hpp"
#include "text.hpp"

namespace pqcmav {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLine = 64;  // characters of base64 per line

[[noreturn]] void cannot(const std::string& what, int code) {
  const char* remedy = code == ENOSPC || code == EDQUOT || code == EFBIG ? "; make room and run this again."
                                                                         : "; correct that and run this again.";
  throw TunnelError(Errc::io, what + " (" + system_reason(code) + ")" + remedy);
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

/// The whole file in memory that is wiped afterwards.
SecretBytes render(const KeyFile& content) {
  const std::string head = "pqcmav-key 1\nkind: " + std::string(to_string(content.kind)) +
                           "\nalgorithm: " + content.algorithm + "\nowner: " + content.owner + "\n";
  const std::size_t encoded_size = (content.key.size() + 2) / 3 * 4;
  SecretBytes encoded(encoded_size + 1);  // OpenSSL adds a NUL
  EVP_EncodeBlock(encoded.mut().data(), content.key.view().data(), static_cast<int>(content.key.size()));
  SecretBytes out(head.size() + encoded_size + (encoded_size + kLine - 1) / kLine);
  auto to = std::copy(head.begin(), head.end(), out.mut().begin());
  for (auto left = encoded.view().first(encoded_size); !left.empty();) {
    const auto line = left.first(std::min(kLine, left.size()));
    to = std::copy(line.begin(), line.end(), to);
    *to++ = '\n';
    left = left.subspan(line.size());
  }
  return out;
}

int write_all(int fd, ByteView bytes) noexcept {
  while (!bytes.empty()) {
    const auto count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

/// Removes the temporary file unless it found its name.
class Unlinker {
 public:
  explicit Unlinker(fs::path file) : file_(std::move(file)) {}
  Unlinker(const Unlinker&) = delete;
  Unlinker& operator=(const Unlinker&) = delete;
  ~Unlinker() {
    if (!file_.empty()) ::unlink(file_.c_str());
  }
  void release() noexcept { file_.clear(); }

 private:
  fs::path file_;
};

void sync_folder(const fs::path& folder) {
  const Fd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened) ::fsync(opened.get());  // some file systems cannot; the file itself is safe already
}

}  // namespace

fs::path temporary_beside(const fs::path& file) {
  ByteArray<8> random;
  random_bytes(random);
  std::string name(1, '.');
  name.append(file.filename().string()).append(".tmp-");
  for (const auto byte : random) name += "abcdefghijklmnopqrstuvwxyz234567"[byte % 32];
  return folder_of(file) / name;
}

void rename_new(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  int code = errno;
  if (code == EINVAL || code == ENOSYS) {  // a file system without that flag: look first
    code = key_file_exists(to) ? EEXIST : ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
    if (code == 0) return;
  }
  cannot(to.string() + " cannot be created", code);
}

void write_key_file(const fs::path& file, const KeyFile& content, Existing existing) {
  check_key_folder(folder_of(file));
  const auto text = render(content);
  const auto temporary = temporary_beside(file);
  {
    const Fd out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!out) cannot("The key file " + file.string() + " cannot be written", errno);
    Unlinker unlinker(temporary);
    if (const int code = write_all(out.get(), text.view()); code != 0)
      cannot("The key file " + file.string() + " cannot be written", code);
    if (existing == Existing::stays)
      rename_new(temporary, file);
    else if (::rename(temporary.c_str(), file.c_str()) != 0)
      cannot("The key file " + file.string() + " cannot be replaced", errno);
    unlinker.release();
  }
  sync_folder(folder_of(file));
}

void make_key_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return;
  const auto parent = folder.parent_path();
  if (!parent.empty() && parent != folder) make_key_folder(parent);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    cannot("The key folder " + folder.string() + " cannot be made", errno);
  if (!fs::is_directory(folder, error))
    throw TunnelError(Errc::io, "The key folder " + folder.string() +
                                    " cannot be made: a file of that name is in the way; remove or rename it.");
}

}  // namespace pqcmav
