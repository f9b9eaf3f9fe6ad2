// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "podrun/config/config.hpp"

#include "cli/option_table.hpp"

// The keys of config.yaml: the long options, and a few that only a pod has.
namespace podrun::cli {

/// `metadata: true`: the hosts that the cloud's metadata server names.
inline constexpr std::string_view kMetadataKey = "metadata";

/// The option that an entry sets: by its key, but `cwd` with a directory is --chdir. Null: there is none.
const OptionEntry* option_of(const config::Setting& entry, const OptionTable& table);

/// The subject of an entry: of several entries with the same subject only one counts.
std::string_view subject_of(const config::Setting& entry, const OptionTable& table);

/// Throws UsageError that begins `path:line: ` for a key that is unknown, makes no sense in a file or stands
/// beside one about the same, and for a list or a map where one value is expected.
void check_configuration(const config::Configuration& config, const OptionTable& table);

}  // namespace podrun::cli
