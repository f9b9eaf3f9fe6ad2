// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/transfer/listing.hpp"
#include "podrun/transfer/pulled_directory.hpp"

namespace podrun::transfer {

/// Returns the next bytes, valid until the next call; empty at the end. May wait, and may throw.
using NextBytes = std::function<std::string_view()>;

/// The part of a pull that has arrived.
struct Unpacked {
  std::vector<bool> arrived = {};  ///< of each wanted path
  std::string problem = {};        ///< why the archives could not be read to their end; empty if they were
};

/// The name of a host's path in tar archives.
std::string_view archive_name(const ListedPath& path);

/// Unpacks tar archives, one after another, into the directory: only the wanted files and links. Throws
/// HostError for other members and for more than `most` bytes in files, LocalWriteError, and what `next`
/// throws; `unpacked` is correct even then.
void unpack(const NextBytes& next, const std::vector<const ListedPath*>& wanted, std::uint64_t most,
            PulledDirectory& directory, Unpacked& unpacked);

}  // namespace podrun::transfer
