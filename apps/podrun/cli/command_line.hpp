// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/podrun_command.hpp"

namespace podrun::cli {

/// One command line: which command it names, and the options it gives.
class CommandLine {
 public:
  /// The rows must outlive it.
  explicit CommandLine(std::span<const CommandRow> commands);

  /// Reads the configuration too. Text to print on standard output instead of running something, as with
  /// --help. Throws UsageError: one line that names what is wrong and the way out.
  /// `kept_in`: see Options.
  std::optional<std::string> parse(std::vector<std::string> arguments, const hosts::Probe& probe,
                                   const std::string& kept_in = {});

  /// Whether the words ask for --json, or config.yaml does; also after parse() has thrown.
  bool asks_for_json() const;

  /// After parse() without an answer: the exit status. Throws UsageError.
  int run(const hosts::Probe& probe, const std::shared_ptr<output::Terminal>& terminal);

  const Options& options() const { return options_; }
  const OptionTable& table() const { return table_; }

 private:
  using Words = std::vector<std::string>;

  std::size_t end_of_operands(const Words& words) const;
  Words expand_short_forms(const Words& left) const;
  void check_first_word(const Words& left, const Words& rest) const;
  void check_dashes(const Words& left) const;
  std::string help(const Words& extras) const;
  void take_command(const Words& left);
  void check_operands() const;
  [[noreturn]] void refuse_option(const std::string& word, const Words& left) const;
  void check_options_taken() const;

  std::span<const CommandRow> rows_;
  std::vector<std::unique_ptr<Command>> commands_;  ///< one for each row
  const CommandRow* row_ = nullptr;                 ///< the one that is named
  Options options_;
  OptionTable table_;
  AppliedConfig config_;
  Words extras_;  ///< words that CLI11 has not placed
};

}  // namespace podrun::cli
