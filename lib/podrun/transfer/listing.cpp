// SPDX-License-Identifier: Apache-2.0
// Reads the list of a host for a pull, and finds the place of each path here. Every path that podrun asks for
// later, and every name that it makes in the local directory, comes from this list.
#include "podrun/transfer/listing.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/link/failure.hpp"
#include "podrun/link/link.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;

constexpr std::string_view kEnd = "//\n";
constexpr std::size_t kNoPath = static_cast<std::size_t>(-1);

/// The kind for the type in a st_mode; none if it is not copied. inode(7)
std::optional<Kind> kind_of(std::uint32_t st_mode) {
  switch (st_mode & 0170000) {
    case 0100000:
      return Kind::file;
    case 0040000:
      return Kind::directory;
    case 0120000:
      return Kind::link;
    default:
      return std::nullopt;
  }
}

/// The type in a st_mode for a letter of find's %y; 0 if it is not copied.
std::uint32_t type_of(std::string_view letter) {
  if (letter == "f") return 0100000;
  if (letter == "d") return 0040000;
  return letter == "l" ? 0120000 : 0;
}

/// True if `path` is `above` or below it.
bool is_within(std::string_view path, std::string_view above) {
  if (!path.starts_with(above)) return false;
  return path.size() == above.size() || above.ends_with('/') || path[above.size()] == '/';
}

/// Compares bytes, but the end of a part comes first, so that the contents of a directory follow it directly.
bool comes_before(const ListedPath& one, const ListedPath& other) {
  const std::string_view a = one.path();
  const std::string_view b = other.path();
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_b == b.end()) return false;
  if (in_a == a.end()) return true;
  if (*in_a == '/' || *in_b == '/') return *in_a == '/';
  return static_cast<unsigned char>(*in_a) < static_cast<unsigned char>(*in_b);
}

std::string_view shown(const ListedPath& path) {
  const std::string_view text = path.host_path;
  return text.starts_with("./") ? text.substr(2) : text;
}

/// Throws for two paths of the host that cannot both be here.
[[noreturn]] void refuse(const ListedPath& one, const ListedPath& other) {
  throw HostError(
      {kCopying, kNotCopied,
       fmt::format("\"{}\" and \"{}\" would both become \"{}\" (copy them into different directories)",
                   shown(one), shown(other), one.path())});
}

/// Throws for two files that have one name in one list.
[[noreturn]] void refuse_equal(const ListedPath& path) {
  throw HostError(
      {kCopying, kNotCopied,
       fmt::format("\"{}\" is listed twice: the host's find or stat cannot print the names of all files "
                   "(rename those whose names are not UTF-8)",
                   shown(path))});
}

/// Sorts the paths, merges directories, drops duplicates, and refuses paths without a place here.
void merge_paths(std::vector<ListedPath>& paths) {
  std::stable_sort(paths.begin(), paths.end(), comes_before);
  std::size_t kept = 0;        // paths at the front
  std::size_t leaf = kNoPath;  // the last one that is not a directory
  for (ListedPath& path : paths) {
    if (kept > 0 && paths[kept - 1].path() == path.path()) {
      const ListedPath& before = paths[kept - 1];
      const bool are_directories = before.kind == Kind::directory && path.kind == Kind::directory;
      if (!are_directories && before.host_path != path.host_path) refuse(before, path);
      if (before.host_path == path.host_path && before.list == path.list && path.list != ListedPath::kNoList)
        refuse_equal(path);
      continue;
    }
    if (leaf != kNoPath && is_within(path.path(), paths[leaf].path())) refuse(paths[leaf], path);
    if (path.kind != Kind::directory) leaf = kept;
    if (&path != &paths[kept]) paths[kept] = std::move(path);
    ++kept;
  }
  paths.resize(kept);
}

}  // namespace

std::string pull_word(std::string_view word) {
  if (word.empty()) throw UsageError("pull: an empty path (expected one on the hosts)");
  std::string path = word.starts_with('/') ? "/" : "./";
  if (word == "~" || word.starts_with("~/")) word.remove_prefix(1);
  std::string_view last;
  for (const std::string_view part : split(word, '/')) {
    last = part;
    if (!part.empty() && part != ".") path += fmt::format("{}/", part);
  }
  if (!last.empty() && last != "." && last != "..") path.pop_back();
  return path;
}

std::string_view doubt_of_name(std::string_view error) {
  const bool is_replaced =
      error.find("\xEF\xBF\xBD") != error.npos || error.find("\\357\\277\\275") != error.npos;
  return is_replaced ? " (perhaps find there prints other names than these files have)" : "";
}

void ListingReader::feed(std::string_view bytes) {
  held_ += bytes;
  std::size_t begin = 0;
  for (std::size_t from = searched_;;) {
    const std::size_t end = held_.find(kEnd, from);
    if (end == held_.npos) break;
    take_record(std::string_view(held_).substr(begin, end - begin));
    begin = from = end + kEnd.size();
  }
  held_.erase(0, begin);
  if (held_.size() > kMaxRecord + kEnd.size() - 1) refuse_listed("an endless name");
  searched_ = held_.size() - std::min(held_.size(), kEnd.size() - 1);
}

void ListingReader::take_record(std::string_view record) {
  if (record.size() > kMaxRecord) refuse_listed("an endless name");
  std::string_view rest = record;
  const std::string_view kind = take_part(rest, ' ');
  if (complete_) refuse_listed(record);
  if (kind == "l" && links_ == Links::listed) return take_link(rest);
  if (record.find('\0') != record.npos) refuse_listed(record);  // no path has a NUL
  if (kind == "f") {
    const auto st_mode = listed_number<std::uint32_t>(take_part(rest, ' '), 16);
    take_path(rest, st_mode);
  } else if (kind == "g") {
    const std::uint32_t type = type_of(take_part(rest, ' '));
    const auto bits = listed_number<std::uint32_t>(take_part(rest, ' '), 8);
    take_path(rest, type | bits);
  } else if (kind == "u") {
    take_user(rest);
  } else if (kind == "h") {
    const auto st_mode = listed_number<std::uint32_t>(take_part(rest, ':'), 16);
    const auto owner = listed_number<std::uint32_t>(take_part(rest, ':'));
    take_directory(st_mode, owner, listed_number<std::uint32_t>(rest));
  } else if (kind == "m") {
    take_match(rest);
  } else if (kind == "w") {
    listing_.has_home = true;
  } else if (kind == "n") {
    listing_.missing.push_back(listed_number<std::size_t>(rest));
    if (listing_.missing.back() >= words_ || listing_.missing.size() > words_) refuse_listed(record);
  } else if (kind == "t") {
    throw HostError({kCopying, Cause::program_missing, std::string(rest)});
  } else if (kind == "e") {
    const auto status = listed_number<int>(rest);
    listing_.has_errors = status != 0;
    listing_.has_not_looked = link::Exited{status}.is_not_startable();  // xargs(1) says it too
    complete_ = true;
  } else {
    refuse_listed(record);
  }
}

void ListingReader::take_match(std::string_view path) {
  if (match_ != kNoPath || !(path.starts_with("./") || path.starts_with('/'))) refuse_listed(path);
  match_budget_.spend(sizeof(std::string), path.size());
  matches_.emplace_back(path);
}

/// `12 1700000000:2049:131:1000:1000 ./a/b`; find prints a fraction of the second too
void ListingReader::take_path(std::string_view rest, std::uint32_t st_mode) {
  ListedPath path;
  path.mode = st_mode & kModeBits;
  path.size = listed_number<std::uint64_t>(take_part(rest, ' '));
  std::string_view identity = take_part(rest, ' ');
  std::string_view time = take_part(identity, ':');
  path.mtime = listed_number<std::int64_t>(take_part(time, '.'));
  if (!identity.empty()) {
    path.identity.device = listed_number<std::uint64_t>(take_part(identity, ':'));
    path.identity.inode = listed_number<std::uint64_t>(take_part(identity, ':'));
    path.identity.owner = listed_number<std::uint32_t>(take_part(identity, ':'));
    const auto group = listed_number<std::uint32_t>(identity);
    if (kind_of(st_mode) == Kind::directory) take_directory(st_mode, path.identity.owner, group);
  }
  find_match(rest, st_mode);
  const std::string& match = matches_[match_];
  // The match `./a/b` becomes b, with its contents below b; only the contents of `./a/b/` are copied.
  path.local_at = match.rfind('/') + 1;
  path.host_path = rest;
  const bool is_next = match_ + 1 < matches_.size() && rest == matches_[match_ + 1];
  path.list = is_next || rest == match ? ListedPath::kNoList : lists_;
  const bool is_top = rest.size() == match.size() && match.ends_with('/');  // the directory itself
  if (is_top && (links_ == Links::not_listed || kind_of(st_mode) != Kind::directory)) return;
  if (!is_top && !goes_down(path.path())) refuse_listed(rest);
  const std::optional<Kind> kind = kind_of(st_mode);
  if (!kind) {
    ++listing_.special;
    return;
  }
  path.kind = *kind;
  path_budget_.spend(sizeof(ListedPath), rest.size());
  listing_.paths.push_back(std::move(path));
}

/// `./a/b`, NUL, and where it leads
void ListingReader::take_link(std::string_view record) {
  std::string_view target = record;
  const std::string_view path = take_part(target, '\0');
  if (target.find('\0') != target.npos) refuse_listed(record);
  path_budget_.spend(sizeof(ListedPath), record.size());
  targets_.emplace(path, target);
}

/// `1000:1000`
void ListingReader::take_user(std::string_view text) {
  user_ = listed_number<std::uint32_t>(take_part(text, ':'));
  user_group_ = listed_number<std::uint32_t>(text);
}

/// Finds out whether others can rename what is in a directory. A group with the number of its user is only
/// his, as on Debian; root has no use for that, so there it is an ACL.
void ListingReader::take_directory(std::uint32_t st_mode, std::uint32_t owner, std::uint32_t group) {
  constexpr std::uint32_t kRoot = 0;
  if (!user_) return;
  const bool is_own_group = group == user_group_ && user_group_ == *user_ && *user_ != kRoot;
  const bool is_writable = (st_mode & 0002) != 0 || ((st_mode & 0020) != 0 && !is_own_group);
  const bool is_others = owner != kRoot && owner != *user_;
  if (is_others || (is_writable && (st_mode & 01000) == 0)) listing_.is_shared = true;
}

/// Finds the match that a path belongs to. find lists the matches one after another, each before its
/// contents. A match inside the one before it comes twice, an equal one or `dir/` begins a list.
void ListingReader::find_match(std::string_view path, std::uint32_t st_mode) {
  const std::size_t next = match_ + 1;  // 0 after kNoPath
  const bool is_next = next < matches_.size() && path == matches_[next];
  const bool is_here =
      has_contents_ && path != matches_[match_] && !path.ends_with('/') && is_within(path, matches_[match_]);
  if (is_here && (!is_next || !std::exchange(passed_next_, true))) return;
  ++lists_;
  for (std::size_t place = next; place < matches_.size(); ++place) {
    if (path != matches_[place]) continue;  // it has vanished
    match_ = place;
    has_contents_ = kind_of(st_mode) == Kind::directory;
    passed_next_ = false;
    return;
  }
  refuse_listed(path);
}

Listing ListingReader::take() {
  merge_paths(listing_.paths);
  for (ListedPath& path : listing_.paths) {
    if (path.kind != Kind::link || links_ == Links::not_listed) continue;
    const auto target = targets_.find(path.host_path);
    if (target == targets_.end() || target->second.empty()) refuse_listed(path.host_path);
    path.link_target = std::move(target->second);
  }
  return std::exchange(listing_, {});
}

}  // namespace podrun::transfer
