// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/json_failure.hpp"

#include <variant>

#include <nlohmann/json.hpp>

#include "podrun/report/failure_words.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::report {

void add_failure(nlohmann::ordered_json& object, const link::Failure& failure) {
  if (failure.stage != link::Stage::none) object["stage"] = identifier(failure.stage);
  object["cause"] = identifier(failure.cause);
  if (!failure.jump_hosts.empty()) object["jump_host"] = failure.jump_hosts.back();
}

void add_failure(nlohmann::ordered_json& object, const run::HostOutcome& outcome) {
  if (const auto* unreachable = std::get_if<run::Unreachable>(&outcome))
    add_failure(object, unreachable->failure);
  object["message"] = describe(outcome);
}

}  // namespace podrun::report
