// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "podrun/base/descriptor.hpp"
#include "podrun/transfer/listing.hpp"

namespace podrun::transfer {

/// A path cannot be written here; what() says which and why.
class LocalWriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The directory for the files of one host. Files get their names once they are complete. Nothing is written
/// through symbolic links in it or in its place, whatever a host has sent. For one thread at a time. All
/// functions throw LocalWriteError.
class PulledDirectory {
 public:
  enum class Missing { make, leave };
  class NewFile;

  /// Removes the leftovers of an interrupted pull. With Missing::leave, a missing directory counts as empty.
  /// `prefix`: what the names in it begin with.
  PulledDirectory(std::string path, Missing missing, std::string prefix = {});
  PulledDirectory(const PulledDirectory&) = delete;
  PulledDirectory& operator=(const PulledDirectory&) = delete;

  /// True if the file or link is here with this size and modification time.
  bool has(const ListedPath& path);
  // These three replace whatever has the name, except a directory that is not empty.
  void make_directory(const ListedPath& path);
  void put_link(const ListedPath& path, const std::string& target);
  void put_hard_link(const ListedPath& path, const ListedPath& existing);
  /// Sets the modification time of an existing directory.
  void set_time(const ListedPath& path);

 private:
  int parent_of(std::string_view path, Missing missing);
  bool remove(int at, const std::string& name);
  template <typename MakeLink>
  bool make(std::string_view path, const MakeLink& make_link);
  bool put(std::string_view path);
  void remove_leftovers();
  std::string name_of(const ListedPath& path) const { return prefix_ + std::string(path.path()); }
  [[noreturn]] void fail(const ListedPath& path) const;

  const std::string path_;
  const std::string prefix_;
  const std::string temporary_;  ///< the name of an incomplete file
  Descriptor root_;
  Descriptor parent_;        ///< the directory of the last path
  std::string parent_path_;  ///< below the root
};

/// A file that is being written. It is removed unless finish() is called.
class PulledDirectory::NewFile {
 public:
  NewFile(PulledDirectory& directory, const ListedPath& path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  void write(std::uint64_t offset, std::string_view bytes);
  /// Gives the file its size, time and name.
  void finish(std::uint64_t size);

 private:
  PulledDirectory& directory_;
  const ListedPath& path_;
  Descriptor descriptor_;
  bool is_put_ = false;
};

}  // namespace podrun::transfer
