// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Marks: what the environment of all that a command starts has in PODRUN_MARK. Pure.
namespace podrun::supervisor {

/// watch: podrun only looks at the hosts, and is not one of the runs there.
enum class RunKind { work, watch };

/// `<run id>.<host>.`; `<run id>.watch.<host>.` for RunKind::watch. start.sh makes the marks of jobs:
/// `<run id>.job-<worker>-<name>.`
std::string make_mark(std::string_view run_id, RunKind kind, std::size_t host);

/// The id of the podrun run, and the name of the job, in a mark; empty: none. Messages suggest commands with
/// these, and a host may send any mark: text that cannot be an id or a name is left out.
std::string run_of(std::string_view mark);
std::string job_of(std::string_view mark);

}  // namespace podrun::supervisor
