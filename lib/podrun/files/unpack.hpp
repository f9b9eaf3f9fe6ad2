// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/files/listing.hpp"
#include "podrun/files/pulled_directory.hpp"

namespace podrun::files {

/// The next bytes, which stay until the next call; empty at the end. May wait, and may throw.
using NextBytes = std::function<std::string_view()>;

/// What of a pull has arrived.
struct Unpacked {
  std::vector<bool> arrived = {};  ///< for each of the wanted paths
  std::string problem = {};        ///< why the archives could not be read to their end; empty: they were
};

/// The name by which tar archives have a path of a host.
std::string_view archive_name(const ListedPath& path);

/// Unpacks tar archives, one after another, into the directory: the files and links that are wanted, and
/// nothing else. Throws HostError for other members and for more than `most` bytes in files, LocalWriteError,
/// and what `next` throws. `unpacked` is right then too.
void unpack(const NextBytes& next, const std::vector<const ListedPath*>& wanted, std::uint64_t most,
            PulledDirectory& directory, Unpacked& unpacked);

}  // namespace podrun::files
