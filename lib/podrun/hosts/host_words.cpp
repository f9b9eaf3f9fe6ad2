// SPDX-License-Identifier: Apache-2.0
// Reads the words that other programs write behind a host: counts of processes, Ansible's variables.
#include "podrun/hosts/host_words.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_name.hpp"

namespace podrun::hosts {
namespace {

constexpr std::size_t kMaxSlots = 65535;

struct Word {
  std::string_view name;
  std::string_view value;
};

[[noreturn]] void refuse_second(const Word& word, const HostEntry& line) {
  line.refuse("word", fmt::format("{}={}", word.name, word.value), "one value, not two");
}

std::size_t parse_count(const Word& word, const HostEntry& line) {
  const std::optional<std::size_t> count = to_number(word.value);
  if (!count || *count > kMaxSlots) line.refuse(word.name, word.value, "a number of processes");
  return *count;
}

void set_slots(const Word& word, Host& host, const HostEntry& line) {
  const std::size_t count = parse_count(word, line);
  if (host.slots != 0 && host.slots != count) refuse_second(word, line);
  host.slots = count;
}

/// Counts that change nothing for podrun: an upper limit, a share of work.
void check_count(const Word& word, Host& /*host*/, const HostEntry& line) { parse_count(word, line); }

void set_user(const Word& word, Host& host, const HostEntry& line) {
  if (!host.user.empty() && host.user != word.value) refuse_second(word, line);
  host.user = parse_user(word.value, line);
}

void set_port(const Word& word, Host& host, const HostEntry& line) {
  const std::uint16_t port = parse_port(word.value, line);
  if (host.port != 0 && host.port != port) refuse_second(word, line);
  host.port = port;
}

void set_address(const Word& word, Host& host, const HostEntry& line) {
  if (!host.address.empty()) refuse_second(word, line);
  host.address = parse_plain_host(word.value, line.where).name;
}

void check_connection(const Word& word, Host& /*host*/, const HostEntry& line) {
  if (word.value != "ssh" && word.value != "smart")
    line.refuse(word.name, word.value, "ssh; \"local\" in a list is this machine");
}

struct Meaning {
  std::string_view name;
  void (*apply)(const Word& word, Host& host, const HostEntry& line);
};
/// https://docs.open-mpi.org/en/main/launching-apps/scheduling.html,
/// https://docs.ansible.com/ansible/latest/inventory_guide/intro_inventory.html
constexpr std::array kMeanings = {
    Meaning{"slots", set_slots},
    Meaning{"gpus", set_slots},
    Meaning{"gpu", set_slots},
    Meaning{"cpus", set_slots},
    Meaning{"cpu", set_slots},
    Meaning{"max-slots", check_count},
    Meaning{"max_slots", check_count},
    Meaning{"weight", check_count},
    Meaning{"user", set_user},
    Meaning{"username", set_user},
    Meaning{"ansible_user", set_user},
    Meaning{"ansible_ssh_user", set_user},
    Meaning{"port", set_port},
    Meaning{"ansible_port", set_port},
    Meaning{"ansible_ssh_port", set_port},
    Meaning{"ansible_host", set_address},
    Meaning{"ansible_ssh_host", set_address},
    Meaning{"ansible_connection", check_connection},
};

}  // namespace

void apply_word(std::string_view text, std::span<Host> hosts, const HostEntry& line) {
  const std::size_t equals = text.find('=');
  const Word word{text.substr(0, equals), text.substr(equals + 1)};
  const auto meaning = std::ranges::find(kMeanings, word.name, &Meaning::name);
  if (meaning == kMeanings.end() || hosts.empty())
    line.refuse("word", text,
                "a host, and behind it slots=8, user=NAME, port=22 or Ansible's ansible_host=ADDRESS");
  for (Host& host : hosts) {
    if (host.kind == HostKind::local && meaning->apply != set_slots && meaning->apply != check_count)
      line.refuse("word", text, "a host of ssh: \"local\" is this machine without ssh");
    meaning->apply(word, host, line);
  }
}

void apply_count(std::string_view count, std::span<Host> hosts, const HostEntry& line) {
  for (Host& host : hosts) set_slots({"slots", count}, host, line);
}

std::string words_of(const Host& host) {
  std::string words = host.slots == 0 ? "" : fmt::format(" slots={}", host.slots);
  return host.address.empty() ? words : fmt::format("{} ansible_host={}", words, host.address);
}

}  // namespace podrun::hosts
