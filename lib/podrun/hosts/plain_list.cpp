// SPDX-License-Identifier: Apache-2.0
// Short lists in one value: names and ranges without words, and a worker number.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_list.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/host_pattern.hpp"
#include "podrun/hosts/host_words.hpp"
#include "podrun/hosts/list_text.hpp"

namespace podrun::hosts {

std::vector<Host> parse_plain_list(std::string_view list, std::string_view where) {
  std::vector<Host> hosts;
  for (std::string_view rest = list;;) {
    const std::string_view word = take_list_word(rest = trim(rest));
    const HostEntry entry{word, where};
    const HostPattern pattern(entry, Widths::first_counts);
    if (pattern.size() > kMaxHosts - hosts.size()) entry.refuse_more();
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      hosts.push_back(parse_plain_host(pattern.at(i), where));
      hosts.back().worker = hosts.size() - 1;
    }
    rest = trim(rest);
    if (rest.empty()) return hosts;
    if (is_comma(rest.front())) rest.remove_prefix(1);
  }
}

void check_is_not_a_file(const std::string& list) {
  constexpr std::array<std::string_view, 7> kListFiles = {".txt",  ".hosts", ".list", ".lst",
                                                          ".conf", ".cfg",   ".ini"};
  const std::string extension = std::filesystem::path(list).extension();
  const bool may_be_file = list.find('/') != list.npos ||
                           std::find(kListFiles.begin(), kListFiles.end(), extension) != kListFiles.end();
  if (!may_be_file || !is_file(list)) return;
  throw UsageError(
      fmt::format("\"{}\" is a file (to read the hosts from it: --hostfile {})", list, shell_quote(list)));
}

std::size_t parse_worker_number(std::string_view text, std::size_t count, std::string_view where) {
  const std::optional<std::size_t> number = to_number(text);
  if (number && *number < count) return *number;
  throw UsageError(fmt::format("{}: {:?} does not fit its list of {} (expected {})", where, text,
                               count_hosts(count), count == 1 ? "0" : fmt::format("0-{}", count - 1)));
}

}  // namespace podrun::hosts
