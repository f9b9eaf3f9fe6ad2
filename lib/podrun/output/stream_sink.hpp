// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "podrun/base/stream_id.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/output/color.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun {

/// How lines are labelled, and on which streams in colour.
struct LabelStyle {
  Label label = Label::rank;
  std::array<Color, kStreams> color = {Color::off, Color::off};
};

/// Shows every line as it comes behind its host's label; `hosts` are those of the run in its order.
/// One host without label: every chunk as it comes, byte for byte. The terminal must outlive the sink.
std::unique_ptr<Sink> make_stream_sink(const std::vector<Host>& hosts, const LabelStyle& style,
                                       Terminal& terminal);

}  // namespace podrun
