// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/base/stream_id.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/output/color.hpp"

namespace podrun {

/// What stands before each line: `3: `, `tpu-3: `, `3 tpu-3: ` or nothing.
enum class Label { rank, host, both, none };

/// The label of a host's lines with the space behind it. In colour each host has its own out of a few, stderr
/// is bold, and the line's text begins with everything reset.
std::string line_label(Label label, const Host& host, StreamId stream, Color color);

}  // namespace podrun
