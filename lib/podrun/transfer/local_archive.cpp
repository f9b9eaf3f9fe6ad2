// SPDX-License-Identifier: Apache-2.0
// Reads the local files of an archive. Each block goes into the digests of a kind when the first reader with
// that kind gets to it, in order.
#include "podrun/transfer/local_archive.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <tuple>
#include <utility>

#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"

namespace podrun::transfer {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

[[noreturn]] void fail_to_read(const std::string& path) {
  throw LocalFileError(fmt::format("{}: cannot be read: {}", path, lower_first(errno_text())));
}

[[noreturn]] void fail_as_changed(const std::string& path) {
  throw LocalFileError(path + ": changed while it was being copied (run the command again)");
}

/// Opens a file of a source, which may itself be that file. Links are followed up to the source: below it
/// other users may put one in the place of a directory, to what they cannot read.
int open_below(const std::string& source, std::string_view rest) {
  constexpr int kFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  if (rest.empty()) return open_path(source, kFile);
  Descriptor directory(open_path(source, O_PATH | O_DIRECTORY));
  while (directory.is_open()) {
    const std::string name(take_part(rest, '/'));
    if (rest.empty()) return ::openat(directory.get(), name.c_str(), kFile);
    directory.reset(::openat(directory.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return -1;
}

}  // namespace

LocalArchive::LocalArchive(const LocalTree& tree, std::vector<std::size_t> chosen)
    : Archive(tree, std::move(chosen)), open_member_(kNone) {}

Chunk LocalArchive::read(std::uint64_t offset, DigestKind kind) {
  const std::uint64_t index = offset / kBlock;
  if (offset < size() && digests(kind).blocks == index) add_to_digests(kind, block(index).bytes());
  return Archive::read(offset, kind);
}

asio::awaitable<void> LocalArchive::finish_digest(DigestKind kind) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  while (digested(kind) < size()) {  // nobody has read it with this kind
    read(digested(kind), kind);
    co_await asio::post(executor, asio::use_awaitable);  // others wait
  }
}

LocalArchive::Digests& LocalArchive::digests(DigestKind kind) {
  const auto found = digests_.find(kind);
  if (found != digests_.end()) return found->second;
  const std::size_t size = Digest(kind).finish().size();
  return digests_.emplace(kind, Digests{size, std::string(members() * size, '\0'), Digest(kind)})
      .first->second;
}

std::uint64_t LocalArchive::digested(DigestKind kind) {
  return std::min(size(), digests(kind).blocks * kBlock);
}

std::optional<std::string> LocalArchive::digest(DigestKind kind) {
  if (digested(kind) < size()) return std::nullopt;
  Digests& known = digests(kind);
  if (!known.whole.empty()) return known.whole;
  std::vector<std::size_t> files;
  for (std::size_t member = 0; member < members(); ++member) {
    if (has_digest(member)) files.push_back(member);
  }
  std::ranges::sort(files, {}, [this](std::size_t member) {
    return std::tuple(content_size(member) < kLarge, std::string_view(entry(member).path));
  });
  const std::string empty = Digest(kind).finish();
  Digest whole(kind);
  for (const std::size_t member : files) {
    const auto own = std::string_view(known.of_members).substr(member * known.size, known.size);
    whole.update(content_size(member) == 0 ? empty : own);
    whole.update("\n");
  }
  known.whole = whole.finish();
  return known.whole;
}

/// Adds the contents of files that are in the next block of the archive to the digests of these files.
void LocalArchive::add_to_digests(DigestKind kind, std::string_view bytes) {
  Digests& known = digests(kind);
  const std::uint64_t begin = known.blocks++ * kBlock;
  const std::uint64_t end = begin + bytes.size();
  for (std::size_t member = member_at(begin); member < members() && this->offset(member) < end; ++member) {
    const std::uint64_t content = content_at(member);
    const std::uint64_t content_end = content + content_size(member);
    const std::uint64_t from = std::max(begin, content);
    const std::uint64_t to = std::min(end, content_end);
    if (from >= to) continue;
    known.unfinished.update(bytes.substr(from - begin, to - from));
    if (to < content_end) continue;
    known.of_members.replace(member * known.size, known.size, known.unfinished.finish());
    known.unfinished = Digest(kind);
  }
}

/// Appends the bytes of a file between two of its offsets. A file is checked before its first byte is used
/// and after its last byte was read.
void LocalArchive::append_content(std::size_t member, std::uint64_t from, std::uint64_t to,
                                  std::string& bytes) {
  const Entry& file = entry(member);
  if (open_member_ != member) open_file(member);
  std::size_t done = bytes.size();
  bytes.resize(done + (to - from));
  while (from < to) {
    const ssize_t count = ::pread(file_.get(), bytes.data() + done, to - from, static_cast<off_t>(from));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_read(tree().local_path(file));
    if (count == 0) fail_as_changed(tree().local_path(file));
    from += static_cast<std::uint64_t>(count);
    done += static_cast<std::size_t>(count);
  }
  if (to == file.size) check_file(file);
}

void LocalArchive::open_file(std::size_t member) {
  const Entry& file = entry(member);
  const std::string path = tree().local_path(file);
  open_member_ = kNone;
  // Something else may have taken the file's place: follow no link, and wait for no FIFO.
  const std::string& source = tree().sources()[file.source].local;
  file_.reset(
      open_below(source, std::string_view(path).substr(path.starts_with(source) ? source.size() : 0)));
  if (!file_.is_open() && errno == ENOENT)
    throw LocalFileError(path + ": vanished while it was being copied (run the command again)");
  if (!file_.is_open() && (errno == ELOOP || errno == ENOTDIR)) fail_as_changed(path);
  if (!file_.is_open()) fail_to_read(path);
  check_file(file);
  open_member_ = member;
}

void LocalArchive::check_file(const Entry& entry) const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail_to_read(tree().local_path(entry));
  const bool is_same = S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) == entry.size &&
                       status.st_mtim.tv_sec == entry.mtime;
  if (!is_same) fail_as_changed(tree().local_path(entry));
}

}  // namespace podrun::transfer
