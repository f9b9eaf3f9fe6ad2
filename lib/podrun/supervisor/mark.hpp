// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Reads marks: what the environment of all that a command starts has in PODRUN_MARK. Pure.
namespace podrun::supervisor {

/// The id of the podrun run, and the name of the job, in a mark; empty: none. Messages suggest commands with
/// these, and a host may send any mark: text that cannot be an id or a name is left out.
std::string run_of(std::string_view mark);
std::string job_of(std::string_view mark);

}  // namespace podrun::supervisor
