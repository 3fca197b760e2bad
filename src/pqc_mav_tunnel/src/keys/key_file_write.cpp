// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <set>

#include "crypto/kdf.hpp"
#include "fd.hpp"
#include "keys/key_file.hpp"
#include "text.hpp"

namespace pqcmav {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLine = 64;  // characters of base64 per line
constexpr std::string_view kTemporary = ".tmp-";
constexpr std::size_t kRandomLetters = 8;
constexpr std::chrono::hours kLeftOver(1);
constexpr std::size_t kOneByOne = 32;  // with more files, flushing the whole file system takes less time

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
  return 0;
}

/// Everything of the file systems on which these folders are. Returns 0 or the code of the error.
int sync_systems(const std::set<fs::path>& folders) {
  std::set<dev_t> done;
  for (const auto& folder : folders) {
    const Fd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat status{};
    if (!opened || ::fstat(opened.get(), &status) != 0) return errno;
    if (done.insert(status.st_dev).second && ::syncfs(opened.get()) != 0) return errno;
  }
  return 0;
}

}  // namespace

int sync_path(const fs::path& path, int flags) {
  const Fd opened(::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC));
  return opened && ::fsync(opened.get()) == 0 ? 0 : errno;
}

fs::path temporary_beside(const fs::path& file) {
  ByteArray<kRandomLetters> random;
  random_bytes(random);
  std::string name(1, '.');
  name.append(file.filename().string()).append(kTemporary);
  for (const auto byte : random) name += "abcdefghijklmnopqrstuvwxyz234567"[byte % 32];
  return folder_of(file) / name;
}

void remove_left_over(const fs::path& root) {
  const auto old = fs::file_time_type::clock::now() - kLeftOver;
  std::error_code error, ignored;
  for (fs::recursive_directory_iterator entry(root, error); !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    const auto ending = name.rfind(kTemporary);
    if (name.front() != '.' || ending == std::string::npos ||
        name.size() != ending + kTemporary.size() + kRandomLetters)
      continue;
    if (entry->symlink_status(ignored).type() == fs::file_type::regular && entry->last_write_time(ignored) < old)
      fs::remove(entry->path(), ignored);
  }
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
  KeyBatch one;
  one.add(file, content, existing);
  one.commit();
}

KeyBatch::~KeyBatch() {
  for (const auto& each : entries_) ::unlink(each.temporary.c_str());
}

fs::path KeyBatch::place_of(const fs::path& file) const {
  const auto found = places_.find(file);
  return found == places_.end() ? file : entries_[found->second].temporary;
}

bool KeyBatch::exists(const fs::path& file) const { return places_.contains(file) || key_file_exists(file); }

KeyFile KeyBatch::read(const fs::path& file, const KeyWanted& wanted) const {
  return read_key_file(place_of(file), wanted);
}

void KeyBatch::add(const fs::path& file, const KeyFile& content, Existing existing) {
  check_key_folder(folder_of(file));
  const auto text = render(content);
  const auto temporary = temporary_beside(file);
  const Fd out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) cannot("The key file " + file.string() + " cannot be written", errno);
  entries_.push_back({file, temporary, existing});
  places_[file] = entries_.size() - 1;
  if (const int code = write_all(out.get(), text.view()); code != 0)
    cannot("The key file " + file.string() + " cannot be written", code);
}

void KeyBatch::commit() {
  std::set<fs::path> folders;
  for (const auto& each : entries_) folders.insert(folder_of(each.file));
  const bool many = entries_.size() > kOneByOne;
  if (many) {
    if (const int code = sync_systems(folders); code != 0) cannot("The key files cannot be written", code);
  } else {
    for (const auto& each : entries_)
      if (const int code = sync_path(each.temporary, O_NOFOLLOW); code != 0)
        cannot("The key file " + each.file.string() + " cannot be written", code);
  }
  std::size_t named = 0;
  try {
    for (; named < entries_.size(); ++named) {
      const auto& [file, temporary, existing] = entries_[named];
      if (existing == Existing::stays)
        rename_new(temporary, file);
      else if (::rename(temporary.c_str(), file.c_str()) != 0)
        cannot("The key file " + file.string() + " cannot be replaced", errno);
    }
  } catch (...) {
    while (named-- > 0)
      if (entries_[named].existing == Existing::stays) ::unlink(entries_[named].file.c_str());
    throw;
  }
  entries_.clear();
  places_.clear();
  // Some file systems cannot do this; the files themselves are safe already.
  if (many)
    (void)sync_systems(folders);
  else
    for (const auto& folder : folders) (void)sync_path(folder, O_DIRECTORY);
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
