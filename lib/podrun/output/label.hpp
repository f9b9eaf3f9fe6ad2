// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/chunk.hpp"
#include "podrun/hosts/host.hpp"

namespace podrun::output {

/// `--color auto|always|never`.
enum class ColorMode { automatic, always, never };

/// Whether labels of one stream are coloured.
enum class Color { off, on };

/// The environment variables that matter, as getenv returns them.
struct ColorEnvironment {
  const char* no_color = nullptr;
  const char* term = nullptr;
};

/// An explicit mode wins; else colour is on for a terminal unless NO_COLOR or TERM forbids it.
Color choose_color(ColorMode mode, const ColorEnvironment& environment, bool is_terminal);

/// The text before each line: `3: `, `tpu-3: `, `3 tpu-3: ` or nothing; `stored`: `3: `, and `3! ` on stderr,
/// for read_stored_line().
enum class Label { worker, host, both, none, stored };

/// The label of a host's lines, with the space after it. In colour each host has one of a few colours, stderr
/// is bold, and all colours are reset before the line's text.
std::string line_label(Label label, const hosts::Host& host, StreamId stream, Color color);

struct StoredLine {
  std::size_t worker = 0;
  StreamId stream = StreamId::out;
  std::string_view text;
};
/// Reads a line with Label::stored. Null: it has none, and is podrun's own.
std::optional<StoredLine> read_stored_line(std::string_view line);

/// An expression of grep -E that only stored lines of these hosts match.
std::string pattern_of_stored(const std::vector<hosts::Host>& hosts);

/// `[0-2,7]`: the worker numbers of the hosts at these indexes.
std::string fold_hosts(const std::vector<hosts::Host>& all, std::span<const std::size_t> hosts);

/// Like fold_hosts(), with the name of a single host: `[7] tpu-7`.
std::string name_hosts(const std::vector<hosts::Host>& all, std::span<const std::size_t> hosts);

/// The label of a line of several hosts, given by index: `all: ` for all, else their folded numbers `[0-62]:
/// `, even for one host. Coloured like the first host; dim for more than half of the hosts.
std::string lines_label(Label label, const std::vector<hosts::Host>& all, std::span<const std::size_t> hosts,
                        StreamId stream, Color color);

}  // namespace podrun::output
