// SPDX-License-Identifier: Apache-2.0
#include "cli/repeat.hpp"

#include <algorithm>
#include <string_view>

#include "podrun/base/shell_quote.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/supervisor/environment.hpp"

namespace podrun::cli {
namespace {

constexpr std::size_t kLongest = 2000;  ///< bytes; longer ones are no help

/// Values that are given to the command may be secret, and what is printed may be kept.
bool gives_values(const Options& options) {
  const auto has_value = [](const std::string& variable) { return variable.find('=') != std::string::npos; };
  if (std::any_of(options.environment.begin(), options.environment.end(), has_value)) return true;
  if (!options.words || options.words->empty()) return false;
  return supervisor::hide_values(options.words->front()) != options.words->front();
}

/// `<(…)` is gone with the run, as standard input is.
bool reads_what_is_gone(const Options& options) {
  const auto is_gone = [](const std::string& word) { return word.starts_with("/dev/fd/"); };
  const bool has_text = options.words || options.script;
  return !has_text || options.script == "-" || options.feed_input ||
         hosts::reads_standard_input(options.hosts) ||
         std::any_of(options.arguments.begin(), options.arguments.end(), is_gone);
}

bool can_be_shown(std::string_view text) {
  return text.size() <= kLongest && std::none_of(text.begin(), text.end(), [](unsigned char c) {
           return (c < 0x20 && c != '\n') || c == 0x7f;
         });
}

}  // namespace

std::string repeat_command(const Options& options, const std::string& workers) {
  const std::string added = "--workers " + workers + (options.outdir.empty() ? "" : " --append");
  std::string text = "podrun " + added;
  for (const std::string& word : options.arguments_to_repeat) text += ' ' + shell_quote_option(word);
  if (gives_values(options) || reads_what_is_gone(options) || !can_be_shown(text))
    return "the same command with " + added + (options.force ? ", without --force" : "");
  return text;
}

}  // namespace podrun::cli
