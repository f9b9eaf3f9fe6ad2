// SPDX-License-Identifier: Apache-2.0
// The text before lines and its colours.
#include "podrun/output/label.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/output/escape.hpp"

namespace podrun::output {
namespace {

// Cyan, yellow, green, magenta, blue, then their bright forms. Red is reserved for errors.
constexpr std::array kPalette = {36, 33, 32, 35, 34, 96, 93, 92, 95, 94};

constexpr char kStoredErr = '!';

std::string label_text(Label label, const hosts::Host& host, StreamId stream) {
  if (label == Label::stored)
    return fmt::format("{}{}", host.worker, stream == StreamId::err ? kStoredErr : ':');
  if (label == Label::worker) return fmt::format("{}:", host.worker);
  if (label == Label::host) return fmt::format("{}:", escape_controls(host.name));
  if (label == Label::both) return fmt::format("{} {}:", host.worker, escape_controls(host.name));
  return {};
}

/// Adds a space. Without `host` the label is dim, so that the text stands out.
std::string paint(const std::string& text, const hosts::Host* host, StreamId stream, Color color) {
  if (color == Color::off) return text + ' ';
  std::string codes = stream == StreamId::err ? "0;1" : host ? "0" : "0;2";
  if (host) codes += fmt::format(";{}", kPalette[host->worker % kPalette.size()]);
  return fmt::format("\x1b[{}m{}\x1b[0m ", codes, text);
}

}  // namespace

Color choose_color(ColorMode mode, const ColorEnvironment& environment, bool is_terminal) {
  if (mode == ColorMode::always) return Color::on;
  if (mode == ColorMode::never || !is_terminal) return Color::off;
  const std::string_view no_color = environment.no_color ? environment.no_color : "";
  const std::string_view term = environment.term ? environment.term : "dumb";
  return no_color.empty() && !term.empty() && term != "dumb" ? Color::on : Color::off;
}

std::string line_label(Label label, const hosts::Host& host, StreamId stream, Color color) {
  if (label == Label::none) return {};
  return paint(label_text(label, host, stream), &host, stream, color);
}

std::optional<StoredLine> read_stored_line(std::string_view line) {
  const std::size_t end = std::min(line.find_first_not_of(kDigits), line.size());
  const std::optional<std::size_t> worker = to_number(line.substr(0, end));
  const std::string_view rest = line.substr(end);
  if (!worker || rest.size() < 2 || rest[1] != ' ' || (rest[0] != ':' && rest[0] != kStoredErr))
    return std::nullopt;
  return StoredLine{*worker, rest[0] == kStoredErr ? StreamId::err : StreamId::out, rest.substr(2)};
}

std::string pattern_of_stored(const std::vector<hosts::Host>& hosts) {
  std::string numbers;
  for (const hosts::Host& host : hosts)
    numbers += fmt::format("{}{}", numbers.empty() ? "" : "|", host.worker);
  return fmt::format("^({})[:{}] ", numbers, kStoredErr);
}

std::string fold_hosts(const std::vector<hosts::Host>& all, std::span<const std::size_t> hosts) {
  std::vector<std::size_t> workers;
  for (const std::size_t host : hosts) workers.push_back(all[host].worker);
  return fmt::format("[{}]", fold_workers(std::move(workers)));
}

std::string name_hosts(const std::vector<hosts::Host>& all, std::span<const std::size_t> hosts) {
  std::string text = fold_hosts(all, hosts);
  if (hosts.size() == 1) text += ' ' + escape_controls(all[hosts.front()].name);
  return text;
}

std::string lines_label(Label label, const std::vector<hosts::Host>& all, std::span<const std::size_t> hosts,
                        StreamId stream, Color color) {
  if (label == Label::none) return {};
  const hosts::Host& first = all[hosts.front()];
  if (hosts.size() == 1) {
    const bool named = label == Label::host || label == Label::both;
    return paint(named ? label_text(label, first, stream) : fmt::format("[{}]:", first.worker), &first,
                 stream, color);
  }
  if (hosts.size() == all.size()) return paint("all:", nullptr, stream, color);
  const bool are_most = 2 * hosts.size() > all.size();
  return paint(fold_hosts(all, hosts) + ':', are_most ? nullptr : &first, stream, color);
}

}  // namespace podrun::output
