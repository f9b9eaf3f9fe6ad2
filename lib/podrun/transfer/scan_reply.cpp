// SPDX-License-Identifier: Apache-2.0
// Reads the list of a host's paths piece by piece, since it may be longer than the files that it describes.
#include "podrun/transfer/scan_reply.hpp"

#include <zlib.h>

#include <array>
#include <limits>
#include <utility>

#include "podrun/base/text.hpp"
#include "podrun/link/failure.hpp"
#include "podrun/transfer/remote_paths.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

constexpr std::size_t kMaxLine = 4096;

/// The path below the target: a/b for `./a/b`, empty for `.`. find(1) prints only paths that go down.
std::string_view below(std::string_view path) {
  if (path == ".") return {};
  if (!path.starts_with("./") || !goes_down(path.substr(2))) refuse_listed(path);
  return path.substr(2);
}

/// The letter of find's %y for the type in a st_mode. inode(7)
char kind_of(std::uint32_t st_mode) {
  const std::uint32_t type = st_mode & 0170000;
  return type == 0100000 ? 'f' : type == 0040000 ? 'd' : type == 0120000 ? 'l' : '?';
}

/// `BLOCKS*FREE*SIZE` of a file system; none for one that knows no blocks, or where stat(1) is missing.
std::optional<std::uint64_t> read_room(std::string_view text) {
  const std::optional<std::size_t> blocks = to_number(take_part(text, '*'));
  const std::optional<std::size_t> free = to_number(take_part(text, '*'));
  const std::optional<std::size_t> size = to_number(text);
  if (!blocks || !free || !size || *blocks == 0 || *size == 0) return std::nullopt;
  if (*free > std::numeric_limits<std::uint64_t>::max() / *size) return std::nullopt;
  return *free * *size;
}

}  // namespace

/// zlib(3), "inflate"
class ScanReply::Inflate {
 public:
  Inflate() {
    constexpr int kGzip = 16 + MAX_WBITS;
    if (::inflateInit2(&stream_, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Inflate() { ::inflateEnd(&stream_); }
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;

  /// Passes the uncompressed bytes to `take`. Returns how many bytes belong to the list.
  template <typename TakeText>
  std::size_t feed(std::string_view bytes, const TakeText& take) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    while (!ended_) {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      const std::size_t count = buffer_.size() - stream_.avail_out;
      take(std::string_view(buffer_.data(), count));
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        refuse_listed("it is not compressed as it should be");
      ended_ = result == Z_STREAM_END;
      if (count == 0) break;
    }
    return bytes.size() - stream_.avail_in;
  }
  bool ended() const { return ended_; }

 private:
  z_stream stream_{};
  std::array<char, 32 * 1024> buffer_;
  bool ended_ = false;
};

ScanReply::ScanReply(Take take) : take_(std::move(take)) {}
ScanReply::~ScanReply() = default;

void ScanReply::feed(std::string_view bytes) {
  while (!bytes.empty() || state_ == State::header || state_ == State::end) {
    if (state_ == State::list) {
      bytes.remove_prefix(feed_list(bytes));
      continue;
    }
    line_ += bytes;
    bytes = {};
    if (state_ == State::complete) return;
    const std::optional<std::string> line = take_answer(line_);
    if (!line) return;
    if (state_ == State::header) {
      read_header(*line);
      state_ = State::list;
      const std::string rest = std::exchange(line_, {});
      if (!rest.empty()) feed(rest);
      return;
    }
    if (*line != "listed") refuse_listed(*line);
    state_ = State::complete;
  }
}

/// `target KIND DIGEST FORMAT COMPRESSION INODE ROOM`
void ScanReply::read_header(std::string_view line) {
  std::array<std::string_view, 7> words;
  for (std::string_view& word : words) word = take_part(line, ' ');
  const auto& [what, kind, digest, format, compression, inode, room] = words;
  if (what != "target") refuse_listed(what);
  header_.exists = kind.starts_with("directory");
  header_.is_name = kind.ends_with("-name");
  header_.digest = digest == "b2sum" ? DigestKind::blake2b : DigestKind::sha256;
  header_.digest_words = {digest == "b2sum" ? "b2sum" : "sha256sum"};
  if (digest == "openssl") header_.digest_words = {"openssl", "dgst", "-sha256", "-r"};
  header_.inode = inode;
  header_.room = read_room(room);
  by_stat_ = format == "stat";
  if (compression == "gzip") inflate_ = std::make_unique<Inflate>();
}

std::size_t ScanReply::feed_list(std::string_view bytes) {
  if (!inflate_) {
    const std::size_t taken = take_records(bytes);
    if (list_ended_) state_ = State::end;
    return taken;
  }
  const std::size_t taken = inflate_->feed(bytes, [&](std::string_view text) {
    if (take_records(text) < text.size()) refuse_listed("after the list");
  });
  if (!inflate_->ended()) return taken;
  if (!list_ended_) refuse_listed("the list is cut off");
  state_ = State::end;
  return taken;
}

/// Reads records up to the end of the list. Returns how many bytes belong to it.
std::size_t ScanReply::take_records(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !list_ended_) {
    const std::size_t end = bytes.find(by_stat_ ? '\n' : '\0', taken);
    const std::size_t next = end == bytes.npos ? bytes.size() : end + 1;
    record_ += bytes.substr(taken, next - taken);
    taken = next;
    if (record_.size() > kMaxRecord) refuse_listed("an endless name");
    if (end == bytes.npos || !(by_stat_ ? take_stat() : take_record())) continue;
    record_.clear();
    nul_ = std::string::npos;
  }
  return taken;
}

/// A record has two texts, each with a NUL at its end. False after the first one.
bool ScanReply::take_record() {
  if (nul_ == std::string::npos) {
    nul_ = record_.size() - 1;
    return false;
  }
  if (std::string_view(record_).substr(0, nul_) == "end") {
    list_ended_ = true;
  } else if (only_links_) {
    take_link();
  } else {
    take_gnu();
  }
  return true;
}

/// `f 644 12 1700000000.1234567890 ./a`, and the target of a link. find(1), -printf
void ScanReply::take_gnu() {
  const std::string_view record(record_);
  std::string_view rest = record.substr(0, nul_);
  HostEntry entry;
  const std::string_view kind = take_part(rest, ' ');
  if (kind.size() != 1) refuse_listed(kind);
  entry.kind = kind[0];
  entry.mode = listed_number<std::uint32_t>(take_part(rest, ' '), 8) & kModeBits;
  entry.size = listed_number<std::uint64_t>(take_part(rest, ' '));
  std::string_view time = take_part(rest, ' ');
  entry.mtime = listed_number<std::int64_t>(take_part(time, '.'));
  entry.path = below(rest);
  entry.link_target = record.substr(nul_ + 1, record.size() - nul_ - 2);
  take_(entry);
}

/// `81a4 12 1700000000 ./a//`, in which "//" cannot be part of the path. stat(1), -c. The links come again,
/// with their targets.
bool ScanReply::take_stat() {
  constexpr std::string_view kEnd = "//\n";
  if (!record_.ends_with(kEnd)) return false;
  std::string_view rest = std::string_view(record_).substr(0, record_.size() - kEnd.size());
  if (rest == "end") {
    by_stat_ = false;
    only_links_ = true;
    return true;
  }
  HostEntry entry;
  const auto st_mode = listed_number<std::uint32_t>(take_part(rest, ' '), 16);
  entry.kind = kind_of(st_mode);
  entry.mode = st_mode & kModeBits;
  entry.size = listed_number<std::uint64_t>(take_part(rest, ' '));
  entry.mtime = listed_number<std::int64_t>(take_part(rest, ' '));
  entry.path = below(rest);
  if (entry.kind != 'l') take_(entry);
  return true;
}

void ScanReply::take_link() {
  const std::string_view record(record_);
  HostEntry entry;
  entry.kind = 'l';
  entry.path = below(record.substr(0, nul_));
  entry.link_target = record.substr(nul_ + 1, record.size() - nul_ - 2);
  take_(entry);
}

std::optional<std::string> take_answer(std::string& output) {
  const std::size_t end = output.find('\n');
  if (end == output.npos && output.size() > kMaxLine) refuse_listed("an endless line");
  if (end == output.npos) return std::nullopt;
  std::string line = output.substr(0, end);
  output.erase(0, end + 1);
  constexpr std::string_view kError = "error ";
  if (line.starts_with(kError))
    throw link::HostError({kCopying, link::Cause::other, line.substr(kError.size())});
  return line;
}

}  // namespace podrun::transfer
