// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/label.hpp"

#include <array>

#include <fmt/format.h>

#include "podrun/output/escape.hpp"

namespace podrun {
namespace {

// Cyan, yellow, green, magenta, blue, then their bright forms: red is left to errors.
constexpr std::array kPalette = {36, 33, 32, 35, 34, 96, 93, 92, 95, 94};

std::string label_text(Label label, const Host& host) {
  if (label == Label::rank) return fmt::format("{}:", host.label);
  if (label == Label::host) return fmt::format("{}:", escape_controls(host.name));
  if (label == Label::both) return fmt::format("{} {}:", host.label, escape_controls(host.name));
  return {};
}

}  // namespace

std::string line_label(Label label, const Host& host, StreamId stream, Color color) {
  if (label == Label::none) return {};
  const std::string text = label_text(label, host);
  if (color == Color::off) return text + ' ';
  const char* const weight = stream == StreamId::err ? "1;" : "";
  return fmt::format("\x1b[0;{}{}m{}\x1b[0m ", weight, kPalette[host.label % kPalette.size()], text);
}

}  // namespace podrun
