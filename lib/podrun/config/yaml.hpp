// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace podrun::config {

/// The documents of a YAML text in UTF-8, https://yaml.org/spec/1.2.2. Throws YAML::Exception, also for text
/// with NUL bytes, and for text that YAML::LoadAll (0.7) would read repeatedly until memory runs out.
std::vector<YAML::Node> load_yaml(const std::string& text);

}  // namespace podrun::config
