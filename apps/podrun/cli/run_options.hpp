// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "cli/option_table.hpp"
#include "cli/options.hpp"

namespace podrun::cli {

// The headings of help.
inline constexpr std::string_view kHostsTopic = "Hosts (default: those that podrun hosts finds)";
inline constexpr std::string_view kSshTopic = "SSH";
inline constexpr std::string_view kCommandTopic = "Command";
inline constexpr std::string_view kLimitsTopic = "Start, failure, end";
inline constexpr std::string_view kOutputTopic = "Output";
inline constexpr std::string_view kOtherTopic = "Other";

/// Adds every option that several commands take; each writes what it is given to `options`, which must
/// outlive the table.
void add_shared_options(OptionTable& table, Options& options);
/// The last of the table.
void add_other_options(OptionTable& table, Options& options);

/// Takes a value that must not be empty; `advice` says what it is.
std::function<void(const std::string&)> not_empty(std::string& target, const std::string& advice);

}  // namespace podrun::cli
