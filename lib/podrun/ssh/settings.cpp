// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/duration.hpp"
#include "podrun/base/error.hpp"
#include "podrun/ssh/algorithms.hpp"
#include "podrun/ssh/config_line.hpp"
#include "podrun/ssh/keywords.hpp"
#include "podrun/ssh/pattern.hpp"

namespace podrun {
namespace {

/// What stands behind a keyword; what is wrong with it is thrown as a UsageError.
class Value {
 public:
  Value(std::string_view keyword, const std::vector<std::string>& words, const std::string& home)
      : keyword_(keyword), words_(words), home_(home) {}

  [[noreturn]] void refuse(std::string_view value, std::string_view expected) const {
    throw UsageError(fmt::format("bad {} \"{}\" (expected {})", keyword_, value, expected));
  }
  /// The only word.
  const std::string& word() const {
    if (words_.size() > 1) refuse(words_[1], "one value; put one with blanks in double quotes");
    return words_.front();
  }
  bool is_none() const { return words_.size() == 1 && lower_case(words_.front()) == "none"; }

  bool flag() const {
    const std::string text = lower_case(word());
    if (text == "yes" || text == "true") return true;
    if (text == "no" || text == "false") return false;
    refuse(word(), "yes or no");
  }
  /// At least `least`; `expected` says so.
  template <typename Number>
  Number number(Number least, std::string_view expected) const {
    const std::string& text = word();
    Number result = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc{} || rest != text.data() + text.size() || result < least) refuse(text, expected);
    return result;
  }
  std::chrono::seconds duration() const {
    try {
      return parse_duration(word());
    } catch (const UsageError&) {
      refuse(word(), "seconds, or a time such as 10s, 5m or 2h");
    }
  }
  std::string path() const { return expanded(word()); }
  /// Several; `none` alone is no path.
  std::vector<std::string> paths() const {
    std::vector<std::string> result;
    if (is_none()) return result;
    for (const std::string& word : words_) {
      if (lower_case(word) == "none") refuse(word, "\"none\" alone");
      result.push_back(expanded(word));
    }
    return result;
  }
  std::string algorithms(AlgorithmKind kind) const {
    if (auto list = configured_algorithms(kind, word())) return *std::move(list);
    refuse(word(), "some that libssh has, such as " + std::string(our_algorithms(kind)));
  }

 private:
  /// `~` is the home directory, and so is %d.
  std::string expanded(const std::string& path) const {
    if (path.find("${") != std::string::npos) refuse(path, "a path; variables are not expanded");
    std::string result;
    std::size_t position = 0;
    if (path.starts_with('~')) {
      if (path.size() > 1 && path[1] != '/') refuse(path, "~ with a slash; write the path of another's home");
      result = home_;
      position = 1;
    }
    for (; position < path.size(); ++position) {
      if (path[position] != '%') {
        result += path[position];
        continue;
      }
      const char token = ++position < path.size() ? path[position] : '\0';
      if (token != 'd' && token != '%')
        refuse(path, "no token but %d and %%; the others are not supported yet");
      result += token == 'd' ? home_ : "%";
    }
    return result;
  }

  std::string_view keyword_;
  const std::vector<std::string>& words_;
  const std::string& home_;
};

template <typename Choice>
using Choices = std::initializer_list<std::pair<std::string_view, Choice>>;

template <typename Choice>
Choice choose(const Value& value, Choices<Choice> choices, std::string_view expected) {
  const std::string word = lower_case(value.word());
  for (const auto& [name, choice] : choices) {
    if (word == name) return choice;
  }
  value.refuse(value.word(), expected);
}

void set_host_name(SshSettings& settings, const Value& value) {
  if (value.word().find('%') != std::string::npos)
    value.refuse(value.word(), "a name or an address; tokens are not supported yet");
  settings.host_name = value.word();
}

void set_address_family(SshSettings& settings, const Value& value) {
  using Family = AddressFamily;
  const Choices<Family> choices = {{"any", Family::any}, {"inet", Family::ipv4}, {"inet6", Family::ipv6}};
  settings.address_family = choose(value, choices, "any, inet or inet6");
}

void set_host_key_check(SshSettings& settings, const Value& value) {
  using Check = HostKeyCheck;
  const Choices<Check> choices = {
      {"yes", Check::yes}, {"true", Check::yes}, {"accept-new", Check::accept_new},
      {"no", Check::no},   {"off", Check::no},   {"false", Check::no},
      {"ask", Check::ask}};
  settings.host_key_check = choose(value, choices, "accept-new, yes, no or ask");
}

void set_agent(SshSettings& settings, const Value& value) {
  const std::string& socket = value.word();
  if (socket.starts_with('$'))
    value.refuse(socket, "a path, none or SSH_AUTH_SOCK; variables are not expanded");
  if (socket == "SSH_AUTH_SOCK") return;  // where nothing is configured it is that
  settings.agent_socket = value.is_none() ? "" : value.path();
}

void set_connect_timeout(SshSettings& settings, const Value& value) {
  settings.connect_timeout.reset();
  if (value.is_none()) return;
  if (const auto duration = value.duration(); duration.count() > 0) settings.connect_timeout = duration;
}

struct Keyword {
  std::string_view name;
  void (*apply)(SshSettings& settings, const Value& value);
};
constexpr std::array kKeywords = std::to_array<Keyword>({
    {"HostName", set_host_name},
    {"User", [](SshSettings& s, const Value& v) { s.user = v.word(); }},
    {"Port", [](SshSettings& s, const Value& v) { s.port = v.number<std::uint16_t>(1, "1-65535"); }},
    {"AddressFamily", set_address_family},
    {"BindAddress", [](SshSettings& s, const Value& v) { s.bind_address = v.word(); }},
    {"ServerAliveInterval", [](SshSettings& s, const Value& v) { s.alive_interval = v.duration(); }},
    {"ServerAliveCountMax", [](SshSettings& s, const Value& v) { s.alive_count_max = v.number(0U, "a number"); }},
    {"ConnectTimeout", set_connect_timeout},
    {"ConnectionAttempts", [](SshSettings& s, const Value& v) { s.connection_attempts = v.number(1U, "a number from 1"); }},
    {"IdentityFile",
     [](SshSettings& s, const Value& v) { s.identity_files.push_back(v.is_none() ? "none" : v.path()); }},
    {"CertificateFile",
     [](SshSettings& s, const Value& v) {
       if (!v.is_none()) s.certificate_files.push_back(v.path());
     }},
    {"IdentitiesOnly", [](SshSettings& s, const Value& v) { s.identities_only = v.flag(); }},
    {"IdentityAgent", set_agent},
    {"StrictHostKeyChecking", set_host_key_check},
    {"UserKnownHostsFile", [](SshSettings& s, const Value& v) { s.user_known_hosts = v.paths(); }},
    {"GlobalKnownHostsFile", [](SshSettings& s, const Value& v) { s.global_known_hosts = v.paths(); }},
    {"HashKnownHosts", [](SshSettings& s, const Value& v) { s.hash_known_hosts = v.flag(); }},
    {"HostKeyAlias", [](SshSettings& s, const Value& v) { s.host_key_alias = v.word(); }},
    {"KexAlgorithms", [](SshSettings& s, const Value& v) { s.kex_algorithms = v.algorithms(AlgorithmKind::kex); }},
    {"HostKeyAlgorithms",
     [](SshSettings& s, const Value& v) { s.host_key_algorithms = v.algorithms(AlgorithmKind::host_key); }},
    {"Ciphers", [](SshSettings& s, const Value& v) { s.ciphers = v.algorithms(AlgorithmKind::cipher); }},
    {"MACs", [](SshSettings& s, const Value& v) { s.macs = v.algorithms(AlgorithmKind::mac); }},
});

const Keyword* find_keyword(std::string_view name) {
  const auto found = std::find_if(kKeywords.begin(), kKeywords.end(), [&](const Keyword& keyword) {
    return lower_case(keyword.name) == lower_case(name);
  });
  return found == kKeywords.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_unknown(const std::string& keyword) {
  std::vector<std::string_view> names;
  for (const Keyword& supported : kKeywords) names.push_back(supported.name);
  const auto nearest = nearest_keyword(keyword, names);
  throw UsageError(
      fmt::format("unknown keyword \"{}\" ({})", keyword,
                  nearest ? fmt::format("did you mean {}?", *nearest) : "ssh_config(5) lists them"));
}

void refuse_control_characters(std::string_view option) {
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f;
  };
  if (std::none_of(option.begin(), option.end(), is_control)) return;
  throw UsageError(fmt::format("control character in {:?} (expected plain text)", option));
}

Applied apply(SshSettings& settings, const ConfigLine& line, const std::string& home) {
  if (line.keyword.empty()) throw UsageError("no keyword (expected KEYWORD=VALUE)");
  const Keyword* const keyword = find_keyword(line.keyword);
  const UnsupportedKeyword* const unsupported = find_unsupported(line.keyword);
  if (!keyword && !unsupported && !may_be_passed_over(line.keyword)) refuse_unknown(line.keyword);
  if (line.arguments.empty() ||
      std::find(line.arguments.begin(), line.arguments.end(), "") != line.arguments.end()) {
    throw UsageError(fmt::format("\"{}\" has no value (expected {}=VALUE)", line.keyword, line.keyword));
  }
  if (keyword) {
    keyword->apply(settings, Value(keyword->name, line.arguments, home));
    return Applied::yes;
  }
  if (!unsupported) return Applied::passed_over;
  if (!matches_pattern_list(lower_case(line.arguments.front()), unsupported->harmless)) {
    throw UsageError(fmt::format("\"{}\" is not supported yet ({})", unsupported->name, unsupported->advice));
  }
  return Applied::yes;
}

}  // namespace

SshSettings default_settings(const std::string& home, const std::string& agent_socket) {
  SshSettings settings;
  settings.agent_socket = agent_socket;
  settings.user_known_hosts = {home + "/.ssh/known_hosts", home + "/.ssh/known_hosts2"};
  settings.global_known_hosts = {"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"};
  return settings;
}

Applied apply_option(SshSettings& settings, std::string_view option, const std::string& home) {
  try {
    refuse_control_characters(option);
    return apply(settings, parse_config_line(option), home);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("-o: {}", error.what()));
  }
}

std::vector<std::string> apply_options(SshSettings& settings, const std::vector<std::string>& options,
                                       const std::string& home) {
  std::vector<std::string> passed_over;
  std::set<std::string> seen;
  for (const std::string& option : options) {
    SshSettings applied = settings;
    const Applied what = apply_option(applied, option, home);  // also one that does not count must be right
    const std::string keyword = parse_config_line(option).keyword;
    const std::string name = lower_case(keyword);
    if (!seen.insert(name).second && name != "identityfile" && name != "certificatefile") continue;
    settings = std::move(applied);
    if (what == Applied::passed_over) passed_over.push_back(keyword);
  }
  return passed_over;
}

}  // namespace podrun
