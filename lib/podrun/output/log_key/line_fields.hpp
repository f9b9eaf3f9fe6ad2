// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/log_key/rank_words.hpp"
#include "podrun/output/log_key/shapes.hpp"

namespace podrun::output {

/// Finds the fields in lines of one host.
class LineFields {
 public:
  /// `rank` and `hosts`: see LineKey. `numbers`: all numbers are fields.
  LineFields(const hosts::Host& host, std::size_t rank, std::size_t hosts, bool numbers);

  void add_names(const std::vector<std::string>& names);

  /// The fields of a whole line, in order. Valid until the next call.
  const std::vector<LogField>& read(std::string_view line);
  /// The fields of the same line as another host would find them. False: the same.
  bool without_own(std::vector<LogField>& fields) const;
  /// The text that names the process which printed the line; empty: none. Of the last line that was read.
  std::string_view process() const { return process_; }
  /// The same of any line, if its tag comes before the time, without reading its fields.
  std::string_view process_of(std::string_view line);

 private:
  /// A number behind a word for ranks.
  struct RankNumber {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t word = 0;  ///< the hash of the word and what is between
    bool is_own = false;
  };

  void read_prefix(unsigned given);
  bool has_prefix_form() const;
  bool read_part(std::size_t& at, unsigned& given);
  void scan_to(std::size_t limit);
  bool look_at_number(std::size_t limit);
  bool is_number(std::size_t at) const;
  void add_number();
  bool settle(ShapeMatch& match);
  bool settle(LogField& field, const ShapeMatch& match);
  bool settle_rank(LogField& field, const ShapeMatch& match);
  bool is_local(std::string_view number);
  bool has_message_before(std::size_t at);
  void learn_ranks();
  std::size_t form() const;

  std::string_view text(const LogField& field) const { return line_.substr(field.begin, field.size()); }

  OwnNames own_;
  const std::size_t host_rank_;
  const std::string rank_;
  const std::string next_rank_;
  const std::string worker_;
  const std::string hosts_;
  const bool numbers_;
  std::array<std::uint8_t, 256> classes_ = {};  ///< what may begin with a byte

  LogShapes* shapes_ = nullptr;
  std::string_view line_;
  std::size_t at_ = 0;       ///< the end of the part that was scanned
  std::size_t message_ = 0;  ///< where the first plain word ends; 0: not looked for
  std::string_view process_;
  std::string_view process_rank_;  ///< the number in the tag of the process
  std::vector<LogField> prefix_;
  std::string
      prefix_form_;  ///< of the prefix that was read last: what decided about its fields; empty: unknown
  bool is_for_all_ = true;  ///< what was read of the prefix would be the same on other hosts
  std::vector<LogField> fields_;
  std::vector<RankNumber> ranks_;  ///< in this line

  RankWords words_;
  bool tags_are_local_ = false;  ///< the host has shown that its processes are numbered within it
};

}  // namespace podrun::output
