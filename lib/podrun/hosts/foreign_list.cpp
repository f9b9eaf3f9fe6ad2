// SPDX-License-Identifier: Apache-2.0
// Recognises what is often taken for a host list, by its first line or by a line that no list has.
#include "podrun/hosts/foreign_list.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

namespace podrun::hosts {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view kUpperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A form of text that begins with `start`, and how to get a list instead.
struct Form {
  std::string_view start;
  std::string_view what;
  std::string_view advice;
};

constexpr std::string_view kAwsAdvice =
    "a list: aws ec2 describe-instances --query 'Reservations[].Instances[].PrivateIpAddress' --output text";
constexpr std::string_view kOneALine = "names or addresses, one a line";
constexpr std::string_view kOneALineByAws = "names or addresses, one a line; aws has --output text";
constexpr std::string_view kDescribe = "gcloud compute tpus tpu-vm describe NAME --format json";

constexpr std::array kForms = {
    Form{"Host ", "an ssh_config", "give it as -F FILE, and its hosts as -H LIST"},
    Form{"JobId=", "what scontrol shows of a job", "a list: squeue -h -j JOB -o %N"},
    Form{"NodeName=", "what scontrol shows of a node", "a list: sinfo -h -N -o %N"},
    Form{"RESERVATIONS\t", "a whole answer of aws", kAwsAdvice},
    Form{"INSTANCES\t", "a whole answer of aws", kAwsAdvice},
    Form{"|", "a table", kOneALineByAws},
    Form{"+-", "a table", kOneALineByAws},
    Form{"---", "a table", kOneALineByAws},
    Form{"networkEndpoints[", "a flattened description of gcloud", kDescribe},
    Form{"network_endpoints = ", "an output of terraform",
         "a list: terraform output -json NAME | jq -r '.[].ip_address'"},
    Form{"ERROR:", "an error message", "the command before \"|\" failed"},
    Form{"Error: ", "an error message", "the command before \"|\" failed"},
    Form{"error: ", "an error message", "the command before \"|\" failed"},
    Form{"<", "HTML or XML", kOneALine},
};

/// Tables of programs, by a word of their headings.
constexpr std::array kTables = {
    Form{"PARTITION", "a table of sinfo", "a list: sinfo -h -N -o %N"},
    Form{"NODELIST", "a table of sinfo", "a list: sinfo -h -N -o %N"},
    Form{"JOBID", "a table of squeue", "a list: squeue -h -j JOB -o %N"},
    Form{"READY", "a table of kubectl",
         "a list: -o jsonpath='{.items[*].status.podIP}', or -o name with --via 'kubectl exec -i {host} --'"},
    Form{"ROLES", "a table of kubectl",
         "a list: -o jsonpath='{.items[*].status.addresses[?(@.type==\"InternalIP\")].address}'"},
    Form{"MACHINE_TYPE", "a table of gcloud", "the whole description: --format json"},
    Form{"ACCELERATOR_TYPE", "a table of gcloud", kDescribe},
};

bool is_upper_case(std::string_view word) {
  return word.find_first_of(kUpperCase) != npos &&
         std::none_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; }) &&
         word.find_first_of("0123456789.") == npos;
}

[[noreturn]] void refuse(std::string_view path, std::size_t line, const Form& form) {
  throw UsageError(
      fmt::format("{}:{}: this is {}, not a list of hosts ({})", path, line, form.what, form.advice));
}

void refuse_table(std::string_view heading, std::string_view path, std::size_t line) {
  std::string_view rest = heading;
  std::size_t upper = 0;
  std::size_t words = 0;
  const Form* table = nullptr;
  while (!(rest = trim_space(rest)).empty()) {
    const std::string_view word = take_word(rest);
    ++words;
    if (is_upper_case(word)) ++upper;
    const auto known = std::ranges::find(kTables, word, &Form::start);
    if (known != kTables.end() && !table) table = &*known;
  }
  const Form any{"", "a table", kOneALine};
  if (upper > 1 && upper * 2 > words) refuse(path, line, table ? *table : any);
}

/// `[gpu]`, `[gpu:vars]`: a header of an inventory. An address has a colon and no letter after f.
bool is_group_header(std::string_view line) {
  return line.size() > 2 && line.front() == '[' && line.back() == ']' &&
         line.find_first_of(",'\" ") == npos &&
         (line.find(':') == npos || line.find_first_not_of("0123456789abcdefABCDEF:.[]") != npos);
}

bool is_rank(std::string_view line) {
  if (!line.starts_with("rank ")) return false;
  const std::string_view after = trim_space(line.substr(5));
  return after.find('=') != npos && to_number(after.substr(0, after.find('='))).has_value();
}

}  // namespace

void refuse_foreign_list(std::string_view text, std::string_view path) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    refuse(path, 1, {"", "UTF-16", "save it as UTF-8"});
  bool is_first = true;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view raw = take_part(text, '\n');
    const std::string_view line = trim_space(raw);
    if (line.empty() || line.front() == '#') continue;
    if (is_group_header(line)) refuse(path, number, {"", "an inventory of Ansible", kInventoryAdvice});
    if (is_rank(line))
      refuse(path, number,
             {"", "a rankfile of Open MPI", "hosts, one a line, with slots=8; podrun binds no CPUs"});
    if (line.starts_with(';') || line.starts_with("//"))
      refuse(path, number, {"", "a comment of another format", "comments begin with #"});
    if (line.starts_with("networkEndpoints:") && !is_first)
      refuse(path, number, {"", "a description with messages before it", "leave them out: no 2>&1"});
    if (!std::exchange(is_first, false)) continue;
    const auto form = std::find_if(kForms.begin(), kForms.end(),
                                   [line](const Form& each) { return line.starts_with(each.start); });
    if (form != kForms.end()) refuse(path, number, *form);
    if (!trim_space(text).empty()) refuse_table(line, path, number);
  }
}

bool is_heading(std::string_view line) {
  constexpr std::array<std::string_view, 17> kHeadings = {
      "NAME",      "name", "IP_ADDRESS", "ip_address", "INTERNAL_IP",     "EXTERNAL_IP",
      "NODELIST",  "NODE", "NodeList",   "HOST",       "HOSTS",           "HOSTNAME",
      "HOSTNAMES", "IP",   "POD_IP",     "ADDRESS",    "PrivateIpAddress"};
  const bool is_rule = line.size() > 2 && line.find_first_not_of('-') == npos;
  const bool is_of_ansible = line.starts_with("hosts (") && line.ends_with("):");
  return is_rule || is_of_ansible || std::ranges::find(kHeadings, line) != kHeadings.end();
}

bool is_missing(std::string_view word) {
  constexpr std::array<std::string_view, 6> kMissing = {"None",   "null",      "<none>",
                                                        "(null)", "<unknown>", "<no"};
  return std::ranges::find(kMissing, word) != kMissing.end();
}

}  // namespace podrun::hosts
