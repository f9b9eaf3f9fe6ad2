// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace podrun {

/// A hosts file with the internal IP address, and nothing else, of every worker of the TPUs in what `gcloud
/// compute tpus tpu-vm describe` or `list` prints as YAML or JSON; nothing for other text. Throws UsageError.
/// https://cloud.google.com/tpu/docs/reference/rest/v2/projects.locations.nodes
std::optional<std::string> hosts_of_description(const std::string& text);

}  // namespace podrun
