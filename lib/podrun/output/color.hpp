// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace podrun {

/// `--color auto|always|never`.
enum class ColorMode { automatic, always, never };

/// Whether one stream is given colour.
enum class Color { off, on };

/// The variables that have a say, as getenv gives them.
struct ColorEnvironment {
  const char* no_color = nullptr;
  const char* term = nullptr;
};

/// An explicit mode decides; else colour is on for a terminal that NO_COLOR and TERM allow it on.
Color choose_color(ColorMode mode, const ColorEnvironment& environment, bool is_terminal);

}  // namespace podrun
