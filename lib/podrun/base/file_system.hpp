// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace podrun {

/// Makes the directory, and those above it, if it is missing: then only the user may enter it. Ignores
/// failures, which the first file in it shows.
void make_private_directory(const std::filesystem::path& directory);

/// Whether the path leads to a visible regular file.
bool is_file(const std::string& path);

/// Reads the rest of the file. Nothing, with errno, if it cannot be read or is longer than `limit` (EFBIG).
std::optional<std::string> read_whole(int descriptor, std::size_t limit);

/// Writes all of it. False with errno.
bool write_whole(int descriptor, std::string_view text);

/// Writes a temporary file in the same directory and renames it, so that readers see the old or the new
/// content. Keeps the mode (a new file gets 0644) and, where permitted, the owner; follows a link. False with
/// errno.
bool replace_file(const std::string& path, std::string_view text);

/// Returns the current directory. Throws UsageError if it was removed, even if another directory has its name
/// now: a relative path would not lead where the user expects. `where`: for the message.
std::filesystem::path current_directory(std::string_view where);

/// Throws this UsageError for a relative path.
void check_current_directory(std::string_view where, std::string_view path);

/// Whether only this user is in the group, as in the groups that Debian creates for each user: then a file
/// writable for the group is not writable for others. False if the user or the group is unknown.
bool is_private_group(gid_t group, uid_t user);

/// Like open(2) with O_CLOEXEC, but a path may be longer than PATH_MAX. -1, with errno, on failure.
int open_path(std::string_view path, int flags);

}  // namespace podrun
