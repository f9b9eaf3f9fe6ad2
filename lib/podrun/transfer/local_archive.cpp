// SPDX-License-Identifier: Apache-2.0
// Reads the local files of an archive. Each block goes into the digests of a kind when the first reader with
// that kind gets to it, in order.
#include "podrun/transfer/local_archive.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

namespace podrun::transfer {
namespace {

constexpr std::size_t kNoMember = std::numeric_limits<std::size_t>::max();

}  // namespace

LocalArchive::LocalArchive(const LocalTree& tree, std::vector<std::size_t> chosen)
    : Archive(tree, std::move(chosen)), open_member_(kNoMember) {}

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

void LocalArchive::append_content(std::size_t member, std::uint64_t from, std::uint64_t to,
                                  std::string& bytes) {
  if (open_member_ != member) {
    open_member_ = kNoMember;
    file_.emplace(tree(), entry(member));
    open_member_ = member;
  }
  file_->read(from, to, bytes);
}

}  // namespace podrun::transfer
