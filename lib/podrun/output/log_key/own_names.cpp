// SPDX-License-Identifier: Apache-2.0
// Finds the names that a host gives itself, as whole words.
#include "podrun/output/log_key/own_names.hpp"

#include <algorithm>

#include "podrun/output/log_key/log_text.hpp"

namespace podrun::output {
namespace {

bool is_ipv6(std::string_view name) { return name.find(':') != name.npos; }

/// A dot and a domain may follow a short name, but not an address; a colon ends all but an IPv6 address.
bool goes_on_after(std::string_view name, std::string_view rest) {
  if (rest.empty()) return false;
  if (is_word(rest[0])) return true;
  if (rest.size() == 1) return false;
  const char next = rest[1];
  if (rest[0] == '-') return is_word(next);
  if (rest[0] == '.') return is_digit(next) || (is_ip_address(name) && is_word(next));
  return rest[0] == ':' && is_ipv6(name) && (is_word(next) || next == ':');
}

}  // namespace

void OwnNames::add(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (is_ip_address(name)) {
      names_.push_back(name);
      continue;
    }
    for (const std::string& form : {name, name.substr(0, name.find('.'))}) {
      if (std::any_of(form.begin(), form.end(), is_letter)) names_.push_back(form);
    }
  }
  std::sort(names_.begin(), names_.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

std::string_view OwnNames::find(std::string_view line, std::size_t at) const {
  for (const std::string& name : names_) {
    // The last byte rejects most words, without a function call.
    const std::size_t end = at + name.size();
    if (end > line.size() || line[end - 1] != name.back() || !line.substr(at).starts_with(name)) continue;
    const char before = at == 0 ? ' ' : line[at - 1];
    const bool goes_on_before = (is_ip_address(name) || before != '.') && !begins_word(line, at);
    if (is_ipv6(name) && before == ':') continue;
    if (!goes_on_before && !goes_on_after(name, line.substr(end))) return name;
  }
  return {};
}

bool is_ip_address(std::string_view name) {
  const bool ipv4 =
      name.find_first_not_of("0123456789.") == name.npos && std::count(name.begin(), name.end(), '.') == 3;
  return ipv4 || is_ipv6(name);
}

}  // namespace podrun::output
