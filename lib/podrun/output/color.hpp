// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace podrun::output
