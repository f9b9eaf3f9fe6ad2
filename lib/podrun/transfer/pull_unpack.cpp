// SPDX-License-Identifier: Apache-2.0
// Unpacks the archives of a host, which libarchive reads. The path that podrun has asked for decides where a
// member goes, never the archive: a name that was not asked for is an error.
#include "podrun/transfer/pull_unpack.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/link/failure.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;

/// Limits for the headers of a path, and for the end of an archive.
constexpr std::uint64_t kMostPerPath = 16 * 1024;
constexpr std::uint64_t kMostPerStream = 1024 * 1024;
constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);

/// The source of libarchive's bytes.
struct Source {
  const NextBytes& next;
  std::uint64_t left;                  ///< bytes that may come
  std::exception_ptr error = nullptr;  ///< kept here, since it cannot pass through libarchive
};

/// The archives cannot be read any further.
struct Broken {};

[[noreturn]] void refuse_more(std::uint64_t most) {
  throw HostError(
      {kCopying, kTooLarge, fmt::format("it sends more than the {} that were expected", format_bytes(most))});
}

la_ssize_t read_bytes(archive* reader, void* data, const void** bytes) {
  Source& source = *static_cast<Source*>(data);
  try {
    const std::string_view piece = source.next();
    if (piece.size() > source.left) refuse_more(source.left);
    source.left -= piece.size();
    *bytes = piece.data();
    return static_cast<la_ssize_t>(piece.size());
  } catch (...) {
    source.error = std::current_exception();
    ::archive_set_error(reader, EIO, "stopped");
    return ARCHIVE_FATAL;
  }
}

/// `./a` is sent as a or ./a, and a directory with a slash at its end.
std::string_view plain_name(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  while (name.ends_with('/')) name.remove_suffix(1);
  return name;
}

class Unpacking {
 public:
  Unpacking(const NextBytes& next, const std::vector<const ListedPath*>& wanted, std::uint64_t most,
            PulledDirectory& directory, Unpacked& unpacked)
      : wanted_(wanted),
        most_(most),
        left_(most),
        directory_(directory),
        unpacked_(unpacked),
        source_{next, most + kMostPerPath * wanted.size() + kMostPerStream},
        reader_(::archive_read_new(), ::archive_read_free) {
    if (!reader_) throw std::bad_alloc();
    unpacked_.arrived.assign(wanted.size(), false);
    for (std::size_t place = wanted.size(); place-- > 0;) {
      const auto [found, is_new] = places_.try_emplace(archive_name(*wanted[place]), place);
      if (!is_new) namesakes_[place] = std::exchange(found->second, place);
    }
    ::archive_read_support_format_empty(reader_.get());
    ::archive_read_support_format_tar(reader_.get());
    // xargs may start several tars.
    ::archive_read_set_format_option(reader_.get(), "tar", "read_concatenated_archives", "1");
  }

  void run() {
    try {
      check(::archive_read_open(reader_.get(), &source_, nullptr, read_bytes, nullptr));
      archive_entry* entry = nullptr;
      while (check(::archive_read_next_header(reader_.get(), &entry))) unpack_member(entry);
    } catch (const Broken&) {
      if (source_.error) std::rethrow_exception(source_.error);
      const char* const why = ::archive_error_string(reader_.get());
      unpacked_.problem = why ? why : "the archive cannot be read";
    }
  }

 private:
  /// False at the end.
  static bool check(int result) {
    if (result == ARCHIVE_EOF) return false;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) throw Broken();
    return true;
  }

  /// Index of the first path with this name whose arrival is `has_arrived`; otherwise of the first. Words of
  /// the command line may want a file of the host in several places here.
  std::size_t place_of(const char* name, bool has_arrived) const {
    const auto found = places_.find(plain_name(name ? name : ""));
    if (found == places_.end()) {
      throw HostError(
          {kCopying, Cause::unexpected_answer, fmt::format("{} in its archive", name ? name : "no name")});
    }
    for (std::size_t place = found->second; place != kNoPlace; place = next_namesake(place)) {
      if (unpacked_.arrived[place] == has_arrived) return place;
    }
    return found->second;
  }

  std::size_t next_namesake(std::size_t place) const {
    const auto found = namesakes_.find(place);
    return found == namesakes_.end() ? kNoPlace : found->second;
  }

  void unpack_member(archive_entry* entry) {
    const std::size_t place = place_of(::archive_entry_pathname(entry), false);
    const ListedPath& path = *wanted_[place];
    const char* const existing = ::archive_entry_hardlink(entry);
    const char* const target = ::archive_entry_symlink(entry);
    if (existing) {
      const std::size_t other = place_of(existing, true);
      if (other == place || !unpacked_.arrived[other]) return;
      directory_.put_hard_link(path, *wanted_[other]);
    } else if (path.kind == Kind::link && target && ::archive_entry_filetype(entry) == AE_IFLNK) {
      directory_.put_link(path, target);
    } else if (path.kind == Kind::file && ::archive_entry_filetype(entry) == AE_IFREG) {
      unpack_file(path, ::archive_entry_size(entry));
    } else {
      return;  // its kind has changed since it was listed
    }
    unpacked_.arrived[place] = true;
  }

  void unpack_file(const ListedPath& path, la_int64_t claimed) {
    const auto size = static_cast<std::uint64_t>(claimed);
    if (claimed < 0 || size > left_) refuse_more(most_);
    left_ -= size;
    PulledDirectory::NewFile file(directory_, path);
    const void* bytes = nullptr;
    std::size_t count = 0;
    la_int64_t offset = 0;
    while (check(::archive_read_data_block(reader_.get(), &bytes, &count, &offset))) {
      const auto begin = static_cast<std::uint64_t>(offset);
      if (offset < 0 || begin > size || count > size - begin) throw Broken();
      file.write(begin, {static_cast<const char*>(bytes), count});
    }
    file.finish(size);
  }

  const std::vector<const ListedPath*>& wanted_;
  const std::uint64_t most_;
  std::uint64_t left_;  ///< bytes that files may have
  PulledDirectory& directory_;
  Unpacked& unpacked_;
  Source source_;
  std::unordered_map<std::string_view, std::size_t> places_;  ///< the first of each name
  std::unordered_map<std::size_t, std::size_t> namesakes_;    ///< the next one of the same name
  std::unique_ptr<archive, int (*)(archive*)> reader_;
};

}  // namespace

std::string_view archive_name(const ListedPath& path) {
  const std::string_view name = path.host_path;
  return name.starts_with('/') ? name.substr(1) : plain_name(name);
}

void unpack(const NextBytes& next, const std::vector<const ListedPath*>& wanted, std::uint64_t most,
            PulledDirectory& directory, Unpacked& unpacked) {
  Unpacking(next, wanted, most, directory, unpacked).run();
}

}  // namespace podrun::transfer
