// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podrun/check/check_report.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/output/json_sink.hpp"

// The texts that podrun check prints. Pure.
namespace podrun::check {

/// Lines for people, without newlines: what the hosts agree on, which differ, the problems, and the verdict
/// last.
std::vector<std::string> describe_check(const std::vector<hosts::Host>& hosts, const CheckReport& report,
                                        std::string_view separator);

/// `--json`: one object on one line. Schema: docs/check-schema.json
std::string check_json(output::WallTime time, const std::vector<hosts::Host>& hosts,
                       const std::vector<CheckedHost>& checked, const CheckReport& report);

}  // namespace podrun::check
