// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/podrun_command.hpp"

namespace podrun::cli {

/// `podrun help WORD...` where no page has that name: the five best of the commands, options and parts of
/// pages that have words which begin so, three lines each of at most `width` columns. Empty: there is none.
std::string search_page(const std::vector<std::string>& words, std::span<const CommandRow> commands,
                        const OptionTable& table, std::size_t width);

}  // namespace podrun::cli
