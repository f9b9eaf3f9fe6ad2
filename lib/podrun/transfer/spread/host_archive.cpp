// SPDX-License-Identifier: Apache-2.0
// Asks the host that has the files for blocks and digests, each once for all that wait for it.
#include "podrun/transfer/spread/host_archive.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace podrun::transfer {
namespace {

/// Blocks that are asked for at a time, so that the way there and back does not decide.
constexpr std::uint64_t kAhead = 16;

std::string_view name_of(DigestKind kind) { return kind == DigestKind::sha256 ? "sha256" : "blake2b"; }

/// Compresses text piece by piece. gzip(1), zlib(3)
class Gzip {
 public:
  Gzip() {
    constexpr int kGzip = 16;  // more than the bits of the window
    if (::deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip, MAX_MEM_LEVEL,
                       Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() { ::deflateEnd(&stream_); }

  void add(std::string_view text) { deflate(text, Z_NO_FLUSH); }
  std::string finish() {
    deflate({}, Z_FINISH);
    return std::move(packed_);
  }

 private:
  void deflate(std::string_view text, int flush) {
    // zlib does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      constexpr std::size_t kStep = 64 * 1024;
      const std::size_t before = packed_.size();
      packed_.resize(before + kStep);
      stream_.next_out = reinterpret_cast<Bytef*>(packed_.data() + before);
      stream_.avail_out = kStep;
      ::deflate(&stream_, flush);
      packed_.resize(packed_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
  std::string packed_ = {};
};

}  // namespace

HostArchive::HostArchive(const LocalTree& tree, std::vector<std::size_t> chosen)
    : Archive(tree, std::move(chosen)) {
  keep_many();
}

void HostArchive::begin(Ask ask) {
  ask_ = std::move(ask);
  asked_.clear();
  for (const auto& [kind, digest] : digests_) {
    if (digest.empty()) ask_(fmt::format("digest {}\n", name_of(kind)));
  }
}

bool HostArchive::prepare(std::uint64_t offset) {
  const std::uint64_t index = offset / kBlock;
  if (offset >= size() || has(index)) return true;
  const std::uint64_t count = (size() + kBlock - 1) / kBlock;
  for (std::uint64_t each = index; ask_ && each < std::min(index + kAhead, count); ++each) ask(each);
  return false;
}

void HostArchive::want_digest(DigestKind kind) {
  const bool is_new = digests_.try_emplace(kind).second;
  if (is_new && ask_) ask_(fmt::format("digest {}\n", name_of(kind)));
}

std::optional<std::string> HostArchive::digest(DigestKind kind) {
  const auto known = digests_.find(kind);
  if (known == digests_.end() || known->second.empty()) return std::nullopt;
  return known->second;
}

bool HostArchive::wants_digest() const {
  return std::ranges::any_of(digests_, [](const auto& each) { return each.second.empty(); });
}

std::string HostArchive::plan() const {
  Gzip plan;
  for (std::size_t member = 0; member < members(); ++member) {
    const Entry& file = entry(member);
    const std::string head = this->head(member);
    const bool is_file = file.kind == Kind::file;
    const std::string path = is_file ? tree().local_path(file) : "";
    const std::size_t below = is_file ? path.size() - tree().sources()[file.source].local.size() : 0;
    plan.add(fmt::format("{} {} {} {:d} {} {} {} {} {}\n", head.size(), content_size(member), file.mtime,
                         has_digest(member), path.size(), below, file.identity.device, file.identity.inode,
                         file.identity.owner));
    plan.add(head);
    plan.add(path);
  }
  return plan.finish();
}

bool HostArchive::take_data(std::uint64_t offset, std::string_view bytes) {
  const std::uint64_t index = offset / kBlock;
  const bool is_whole = offset % kBlock == 0 && offset < size() &&
                        bytes.size() == std::min<std::uint64_t>(kBlock, size() - offset);
  if (!is_whole || asked_.erase(index) == 0) return false;
  arrived_ = bytes;
  block(index);
  arrived_ = {};
  return true;
}

void HostArchive::take_digest(DigestKind kind, std::string digest) { digests_[kind] = std::move(digest); }

std::string HostArchive::sum_with_heads(std::uint64_t begin, std::uint64_t end, std::string_view sum) const {
  Digest both(DigestKind::sha256);
  both.update(sum);
  both.update(sum_of_heads(begin, end));
  return both.finish_bytes();
}

/// Heads are not taken from the host.
void HostArchive::append_content(std::size_t /*member*/, std::uint64_t from, std::uint64_t to,
                                 std::string& bytes) {
  if (arrived_.empty()) throw std::logic_error("a block was read before it had arrived");
  bytes += arrived_.substr(bytes.size(), to - from);
}

void HostArchive::ask(std::uint64_t index) {
  if (has(index) || !asked_.insert(index).second) return;
  const std::uint64_t offset = index * kBlock;
  ask_(fmt::format("give {} {}\n", offset, std::min<std::uint64_t>(kBlock, size() - offset)));
}

}  // namespace podrun::transfer
