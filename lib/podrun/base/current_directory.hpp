// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace podrun {

/// Throws UsageError if the current directory was removed, even if another one has its name by now: a
/// relative path would not mean what the user sees under that name. `where`: for the message.
std::filesystem::path current_directory(std::string_view where);

/// Throws the same for a path that counts from the current directory.
void check_current_directory(std::string_view where, std::string_view path);

}  // namespace podrun
