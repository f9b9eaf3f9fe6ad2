// SPDX-License-Identifier: Apache-2.0
// Computes any block of an archive whose members' places are known from the start. A few blocks are kept for
// slower readers.
#include "podrun/transfer/archive.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace podrun::transfer {
namespace {

constexpr std::size_t kRecord = 512;  ///< all parts of an archive are padded to this
constexpr std::size_t kLongestName = 99;
constexpr std::uint32_t kOwnerRead = 0400;
constexpr std::uint32_t kLinkMode = 0777;

/// A field of a header, see tar(5), "Pre-POSIX Archives" and "GNU Tar Archives".
struct Field {
  std::size_t offset;
  std::size_t size;
};
constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kUser{108, 8};
constexpr Field kGroup{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr Field kType{156, 1};
constexpr Field kLink{157, 100};
constexpr Field kMagic{257, 8};

struct Member {
  std::string_view name;
  char type = '0';
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime = 0;
  std::string_view link = {};
};

constexpr std::uint64_t padded(std::uint64_t size) { return (size + kRecord - 1) / kRecord * kRecord; }

void put(std::string& header, Field field, std::string_view text) {
  text = text.substr(0, field.size);
  std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(field.offset));
}

/// Writes octal digits and NUL; a number that is negative or too long in binary, with the highest bit set
/// (tar(5), "base-256").
void put_number(std::string& header, Field field, std::int64_t number) {
  const std::size_t digits = field.size - 1;
  if (number >= 0 && number >> (3 * digits) == 0) {
    put(header, field, fmt::format("{:0{}o}", number, digits));
    return;
  }
  for (std::size_t i = field.size; i > 0; --i, number >>= 8)
    header[field.offset + i - 1] = static_cast<char>(number & 0xff);
  header[field.offset] = static_cast<char>(header[field.offset] | '\x80');
}

std::string header_of(const Member& member) {
  std::string header(kRecord, '\0');
  put(header, kName, member.name);
  put_number(header, kMode, member.mode);
  put_number(header, kUser, 0);
  put_number(header, kGroup, 0);
  put_number(header, kSize, static_cast<std::int64_t>(member.size));
  put_number(header, kTime, member.mtime);
  header[kType.offset] = member.type;
  put(header, kLink, member.link);
  put(header, kMagic, "ustar  ");
  put(header, kChecksum, std::string(kChecksum.size, ' '));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(header, kChecksum, fmt::format("{:06o}", sum) + '\0');  // and one of the spaces
  return header;
}

std::string with_padding(std::string bytes) {
  bytes.resize(padded(bytes.size()), '\0');
  return bytes;
}

/// The member before one whose name or link target is too long for its header.
std::string long_name(char type, std::string_view text) {
  const std::string content = std::string(text) + '\0';
  return header_of({.name = "././@LongLink", .type = type, .mode = 0644, .size = content.size()}) +
         with_padding(content);
}
std::size_t long_name_size(std::size_t length) {
  return length > kLongestName ? kRecord + padded(length + 1) : 0;
}

std::string name_of(const Entry& entry) {
  const bool needs_slash = entry.kind == Kind::directory && !entry.path.empty();
  return fmt::format("new/{}{}", entry.path, needs_slash ? "/" : "");
}

std::string head_of(const Entry& entry) {
  const std::string name = name_of(entry);
  Member member{.name = name, .mtime = entry.mtime, .link = entry.link_target};
  switch (entry.kind) {
    case Kind::file:
      member.mode = entry.mode;
      member.size = entry.size;
      break;
    case Kind::directory:
      member.type = '5';
      member.mode = entry.mode | kOwnerAccess;
      break;
    case Kind::link:
      member.type = '2';
      member.mode = kLinkMode;
      break;
  }
  std::string head;
  if (member.link.size() > kLongestName) head += long_name('K', member.link);
  if (name.size() > kLongestName) head += long_name('L', name);
  return head + header_of(member);
}

/// The size of head_of().
std::size_t head_size(const Entry& entry) {
  const bool has_slash = entry.kind == Kind::directory && !entry.path.empty();
  const std::size_t name_size = std::string_view("new/").size() + entry.path.size() + (has_slash ? 1 : 0);
  return long_name_size(entry.link_target.size()) + long_name_size(name_size) + kRecord;
}

}  // namespace

Archive::Archive(const LocalTree& tree, std::vector<std::size_t> chosen)
    : tree_(tree), chosen_(std::move(chosen)) {
  offsets_.reserve(chosen_.size() + 1);
  std::uint64_t offset = 0;
  for (std::size_t member = 0; member < chosen_.size(); ++member) {
    offsets_.push_back(offset);
    offset += head_size(entry(member)) + padded(content_size(member));
  }
  offsets_.push_back(offset);
}

std::uint64_t Archive::size() const { return offsets_.back(); }

bool Archive::prepare(std::uint64_t /*offset*/) { return true; }

asio::awaitable<void> Archive::finish_digest(DigestKind /*kind*/) { co_return; }

Chunk Archive::read(std::uint64_t offset, DigestKind /*kind*/) {
  if (offset >= size()) return {};
  Chunk whole = block(offset / kBlock);
  const std::size_t skipped = offset % kBlock;
  return skipped == 0 ? whole : Chunk(std::string(whole.bytes().substr(skipped)));
}

bool Archive::has_digest(std::size_t member) const {
  return entry(member).kind == Kind::file && (entry(member).mode & kOwnerRead) != 0;
}

std::string Archive::head(std::size_t member) const { return head_of(entry(member)); }

std::uint64_t Archive::content_at(std::size_t member) const {
  return offsets_[member] + head_size(entry(member));
}

std::uint64_t Archive::content_size(std::size_t member) const {
  return entry(member).kind == Kind::file ? entry(member).size : 0;
}

std::string Archive::sum_of_heads(std::uint64_t begin, std::uint64_t end) const {
  Digest sum(DigestKind::sha256);
  for (std::size_t member = member_at(begin); member < chosen_.size() && offsets_[member] < end; ++member) {
    const std::uint64_t from = std::max(begin, offsets_[member]);
    const std::uint64_t to = std::min(end, content_at(member));
    if (from < to) sum.update(std::string_view(head(member)).substr(from - offsets_[member], to - from));
  }
  return sum.finish_bytes();
}

bool Archive::has(std::uint64_t index) const { return cache_.contains(index); }

Chunk Archive::block(std::uint64_t index) {
  if (index < computed_) {
    if (index + 1 < computed_) keep_many();
    if (const auto found = cache_.find(index); found != cache_.end()) {
      found->second.used = ++uses_;
      return found->second.block;
    }
  }
  Chunk block = compute(index);
  cache(index, block);
  computed_ = std::max(computed_, index + 1);
  return block;
}

/// The member at this offset.
std::size_t Archive::member_at(std::uint64_t offset) const {
  const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), offset);
  return static_cast<std::size_t>(after - offsets_.begin()) - 1;
}

Chunk Archive::compute(std::uint64_t index) {
  const std::uint64_t begin = index * kBlock;
  const std::uint64_t end = std::min(begin + kBlock, size());
  std::string bytes;
  bytes.reserve(end - begin);
  for (std::size_t member = member_at(begin); begin + bytes.size() < end; ++member)
    append_member(member, begin + bytes.size(), end, bytes);
  return Chunk(std::move(bytes));
}

/// Appends the part of a member between two offsets of the archive; `from` is in it.
void Archive::append_member(std::size_t member, std::uint64_t from, std::uint64_t to, std::string& bytes) {
  const std::uint64_t begin = offsets_[member];
  const std::uint64_t content = content_at(member);
  const std::uint64_t content_end = content + content_size(member);
  if (from < content) {
    const std::string head = this->head(member);
    bytes.append(head, from - begin, std::min(to, content) - from);
    from = std::min(to, content);
  }
  if (from < std::min(to, content_end)) {
    append_content(member, from - content, std::min(to, content_end) - content, bytes);
    from = std::min(to, content_end);
  }
  bytes.append(std::min(to, offsets_[member + 1]) - from, '\0');
}

/// Drops the block whose last use is the longest ago where there is no room.
void Archive::cache(std::uint64_t index, const Chunk& block) {
  if (cache_.size() >= capacity_) {
    const auto last_use = [](const auto& each) { return each.second.used; };
    cache_.erase(std::ranges::min_element(cache_, {}, last_use));
  }
  cache_[index] = {block, ++uses_};
}

std::string tar_member(std::string_view name, std::string_view content) {
  return header_of({.name = name, .mode = 0600, .size = content.size()}) + with_padding(std::string(content));
}

std::string_view end_of_archive() {
  static constexpr std::array<char, 2 * kRecord> kZeros{};
  return {kZeros.data(), kZeros.size()};
}

}  // namespace podrun::transfer
