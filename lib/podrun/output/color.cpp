// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/color.hpp"

#include <string_view>

namespace podrun::output {

Color choose_color(ColorMode mode, const ColorEnvironment& environment, bool is_terminal) {
  if (mode == ColorMode::always) return Color::on;
  if (mode == ColorMode::never || !is_terminal) return Color::off;
  const std::string_view no_color = environment.no_color ? environment.no_color : "";
  const std::string_view term = environment.term ? environment.term : "dumb";
  return no_color.empty() && !term.empty() && term != "dumb" ? Color::on : Color::off;
}

}  // namespace podrun::output
