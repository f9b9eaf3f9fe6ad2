// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/config/config.hpp"

#include "cli/option_table.hpp"

// What the keys of config.yaml mean: the long options, and the few that only a pod has.
namespace podrun::cli {

/// `metadata: true`: the hosts that the cloud's metadata server names.
inline constexpr std::string_view kMetadataKey = "metadata";

/// The option that an entry sets: by its key, but `cwd` with a directory is --chdir. Null: there is none.
const OptionEntry* option_of(const config::Setting& entry, const OptionTable& table);

/// What an entry is about: where two are about the same, only one of them counts.
std::string_view subject_of(const config::Setting& entry, const OptionTable& table);

/// Throws UsageError that begins `path:line: ` for a key that is unknown, makes no sense in a file or stands
/// beside one about the same, and for a list or a map where one value is expected.
void check_configuration(const config::Configuration& config, const OptionTable& table);

}  // namespace podrun::cli
