// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/output/full_screen.hpp"
#include "podrun/session/session.hpp"
#include "podrun/top/sampling.hpp"
#include "podrun/top/screen.hpp"
#include "podrun/top/styled_line.hpp"

namespace podrun::top {

/// The run that samples these hosts: podrun's own work, on whoever answers. Without `is_once` and `count` it
/// goes on, and lost hosts are tried again, until the user ends it.
session::RunSpec top_run(const session::SessionSpec& session, const SampleRequest& request);

/// Prints a table once (`is_once`), or a JSON line for each sample (the run's view). The exit status: 255 if
/// a host is not reached or lost.
int print_samples(session::Session& session, const session::RunSpec& run, const SampleRequest& request);

/// Shows the screen until the user quits. `same_hosts`: for commands that are shown. The exit status: 0 when
/// the user has quit.
int show_screen(session::Session& session, const session::RunSpec& run, const SampleRequest& request,
                output::FullScreen& screen, Palette palette, const SameHosts& same_hosts);

}  // namespace podrun::top
