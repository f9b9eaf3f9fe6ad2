// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace podrun {

/// Whether the path leads to a regular file that can be seen.
bool is_file(const std::string& path);

/// Reads the rest of the file. Nothing, with errno, if it cannot be read or is longer than `limit` (EFBIG).
std::optional<std::string> read_whole(int descriptor, std::size_t limit);

/// Writes all of it. False with errno.
bool write_whole(int descriptor, std::string_view text);

/// Writes a temporary file in the same directory and renames it, so that readers see the old or the new
/// content. Keeps the mode (a new file gets 0644) and, where permitted, the owner; follows a link. False with
/// errno.
bool replace_file(const std::string& path, std::string_view text);

}  // namespace podrun
