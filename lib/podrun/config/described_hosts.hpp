// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace podrun::config {

/// The addresses of a machine in a cloud: those within its network, or those that reach it from anywhere.
enum class Addresses { internal, external };

/// Turns the YAML or JSON of `gcloud compute tpus tpu-vm describe` or `list` into a hosts file with every
/// worker's IP address; nothing for other text. Throws UsageError that begins with `where`.
/// https://cloud.google.com/tpu/docs/reference/rest/v2/projects.locations.nodes
std::optional<std::string> hosts_of_description(const std::string& text,
                                                Addresses which = Addresses::internal,
                                                std::string_view where = "standard input");

}  // namespace podrun::config
