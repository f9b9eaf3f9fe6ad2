// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "podrun/transfer/listing.hpp"

namespace podrun::test {

/// A path as a host lists it, with the same name here.
inline transfer::ListedPath listed_path(const std::string& path, std::uint64_t size = 0,
                                        transfer::Kind kind = transfer::Kind::file,
                                        std::int64_t mtime = 1'600'000'000, std::uint32_t mode = 0644) {
  transfer::ListedPath listed;
  listed.host_path = "./" + path;
  listed.local_at = 2;
  listed.mode = mode;
  listed.size = size;
  listed.mtime = mtime;
  listed.kind = kind;
  return listed;
}

}  // namespace podrun::test
