// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "option_table.hpp"
#include "options.hpp"

namespace podrun {

/// Adds every option of podrun; each writes what it is given to `options`, which must outlive the
/// table.
void add_options(OptionTable& table, Options& options);

}  // namespace podrun
