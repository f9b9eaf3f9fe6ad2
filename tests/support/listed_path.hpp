// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "podrun/files/listing.hpp"

namespace podrun::test {

/// A path as a host lists it, with the same name here.
inline files::ListedPath listed_path(const std::string& path, std::uint64_t size = 0,
                                     files::Kind kind = files::Kind::file, std::int64_t mtime = 1'600'000'000,
                                     std::uint32_t mode = 0644) {
  files::ListedPath listed;
  listed.host_path = "./" + path;
  listed.local_at = 2;
  listed.mode = mode;
  listed.size = size;
  listed.mtime = mtime;
  listed.kind = kind;
  return listed;
}

}  // namespace podrun::test
