// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "podrun/hosts/host_list.hpp"

namespace podrun::config {

/// The addresses of a machine in a cloud: those within its network, or those that reach it from anywhere.
enum class Addresses { internal, external };

/// Turns YAML or JSON into a host list: names, or what gcloud describes or lists (TPUs, instances, the
/// endpoints of a TPU); none for other text. Throws UsageError that begins with `where`.
/// https://cloud.google.com/tpu/docs/reference/rest/v2/projects.locations.nodes,
/// https://cloud.google.com/compute/docs/reference/rest/v1/instances
std::optional<hosts::Description> hosts_of_description(const std::string& text,
                                                       Addresses which = Addresses::internal,
                                                       std::string_view where = "standard input");

}  // namespace podrun::config
