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
#include "podrun/hosts/host_name.hpp"

namespace podrun::hosts {
namespace {

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
    Form{"\u250c", "a table", kOneALine},
    Form{"\u2502", "a table", kOneALine},
    Form{"network_endpoints = ", "an output of terraform",
         "a list: terraform output -json NAME | jq -r '.[].ip_address'"},
    Form{"ERROR:", "an error message", "the command before \"|\" failed"},
    Form{"Error: ", "an error message", "the command before \"|\" failed"},
    Form{"error: ", "an error message", "the command before \"|\" failed"},
    Form{"<", "HTML or XML", kOneALine},
    Form{"No resources found", "a message of kubectl: it found nothing",
         "see its -n NAMESPACE and -l LABELS"},
    Form{"Listed 0 items", "a message of gcloud: it found nothing", "see its --zone and --filter"},
};

constexpr std::string_view kPodsAdvice =
    "a list: -o jsonpath='{.items[*].status.podIP}', or -o name with --via 'kubectl exec -i {host} --'";

/// Tables of programs, by a word of their headings.
constexpr std::array kTables = {
    Form{"PARTITION", "a table of sinfo", "a list: sinfo -h -N -o %N"},
    Form{"NODELIST", "a table of sinfo", "a list: sinfo -h -N -o %N"},
    Form{"JOBID", "a table of squeue", "a list: squeue -h -j JOB -o %N"},
    Form{"READY", "a table of kubectl", kPodsAdvice},
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

[[noreturn]] void refuse(std::string_view where, const Form& form) {
  throw UsageError(fmt::format("{}: this is {}, not a list of hosts ({})", where, form.what, form.advice));
}

[[noreturn]] void refuse(std::string_view path, std::size_t line, const Form& form) {
  refuse(fmt::format("{}:{}", path, line), form);
}

const Form* form_of(std::string_view line) {
  const auto* const form = std::find_if(kForms.begin(), kForms.end(),
                                        [line](const Form& each) { return line.starts_with(each.start); });
  return form == kForms.end() ? nullptr : form;
}

/// `[networkEndpoints.0]`: a section of gcloud's config format.
bool is_section_of_gcloud(std::string_view line) {
  const std::size_t dot = line.rfind('.');
  return line.starts_with("[network") && line.ends_with(']') && dot != npos &&
         line.find_first_not_of(kDigits, dot + 1) + 1 == line.size();
}

/// `;;;`, or `;203.0.113.2`: what gcloud's value() prints for addresses that are missing.
bool has_missing_addresses(std::string_view line) {
  const std::size_t first = line.find_first_not_of(";, ");
  return (line.starts_with(';') || line.starts_with(',')) &&
         (first == npos || (line[first - 1] != ' ' && kDigits.find(line[first]) != npos));
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

bool is_flattened(std::string_view line) {
  return std::ranges::any_of(kNetworkLists, [line](std::string_view name) {
    return line.starts_with(name) && line.substr(name.size()).starts_with('[');
  });
}

void refuse_foreign_list(std::string_view text, std::string_view path) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    refuse(path, 1, {"", "UTF-16", "save it as UTF-8"});
  bool is_first = true;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view raw = take_part(text, '\n');
    const std::string_view line = trim_space(raw);
    if (line.empty() || line.front() == '#') continue;
    if (is_section_of_gcloud(line)) refuse(path, number, {"", "gcloud's config format", kDescribe});
    if (is_flattened(line)) refuse(path, number, {"", "a flattened description of gcloud", kDescribe});
    if (!is_first && line.starts_with("['"))
      refuse(path, number,
             {"", "a table of gcloud with a list in it", "one column: value(networkEndpoints[].ipAddress)"});
    if (has_missing_addresses(line))
      refuse(path, number,
             {"", "a list of machines without an address",
              "without an external one, take value(networkEndpoints[].ipAddress)"});
    if (is_group_header(line)) refuse(path, number, {"", "an inventory of Ansible", kInventoryAdvice});
    if (is_rank(line))
      refuse(path, number,
             {"", "a rankfile of Open MPI", "hosts, one a line, with slots=8; podrun binds no CPUs"});
    if (line.starts_with(';') || line.starts_with("//"))
      refuse(path, number, {"", "a comment of another format", "comments begin with #"});
    if (line.starts_with("networkEndpoints:") && !is_first)
      refuse(path, number, {"", "a description with messages before it", "leave them out: no 2>&1"});
    if (!std::exchange(is_first, false)) continue;
    const Form* const form = line == "---" ? nullptr : form_of(line);  // above a document of gcloud
    if (form) refuse(path, number, *form);
    if (!trim_space(text).empty()) refuse_table(line, path, number);
  }
}

namespace {

/// Messages of gcloud are read as YAML otherwise.
void refuse_failure_of_gcloud(std::string_view line, std::string_view where) {
  constexpr std::string_view kPrefix = "ERROR: ";
  constexpr std::size_t kMost = 300;
  if (!line.starts_with("ERROR: (gcloud.")) return;
  throw UsageError(fmt::format("{}: gcloud failed: {:?} (run the command alone)", where,
                               line.substr(kPrefix.size(), kMost)));
}

}  // namespace

void refuse_messages(std::string_view text, std::string_view where, LinesOf kind) {
  bool is_first = true;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trim_space(take_part(text, '\n'));
    if (line.empty() || line.front() == '#') continue;
    const std::string place =
        kind == LinesOf::file ? fmt::format("{}:{}", where, number) : std::string(where);
    refuse_failure_of_gcloud(line, place);
    const Form* form = std::exchange(is_first, false) ? form_of(line) : nullptr;
    if (form && form->what.find("message") != npos) refuse(place, *form);
  }
}

namespace {

/// States of machines, pods and nodes, as gcloud, kubectl, aws and sinfo write them.
constexpr std::array<std::string_view, 17> kStates = {
    "READY",      "RUNNING",   "CREATING", "PREEMPTED", "TERMINATED",   "STOPPED",
    "STOPPING",   "STAGING",   "ACTIVE",   "STARTING",  "PROVISIONING", "SUSPENDED",
    "SUSPENDING", "REPAIRING", "DELETING", "HEALTHY",   "FAILED"};
constexpr std::array<std::string_view, 20> kStatesBeside = {"Running",
                                                            "Pending",
                                                            "Ready",
                                                            "NotReady",
                                                            "Succeeded",
                                                            "Completed",
                                                            "Complete",
                                                            "Failed",
                                                            "Unknown",
                                                            "Terminating",
                                                            "Error",
                                                            "Evicted",
                                                            "Up",
                                                            "running",
                                                            "ContainerCreating",
                                                            "CrashLoopBackOff",
                                                            "ImagePullBackOff",
                                                            "pending",
                                                            "stopped",
                                                            "idle"};

/// `1/1`: how many containers of a pod are ready.
bool is_fraction(std::string_view word) {
  const std::size_t slash = word.find('/');
  return slash != npos && to_number(word.substr(0, slash)) && to_number(word.substr(slash + 1));
}

/// The lower-case words of `NAT_IP`, `networkIP` and `INTERNAL-IP`; the last of them.
std::string last_part(std::string_view word) {
  std::size_t start = word.find_last_of("_-") + 1;
  for (std::size_t i = start + 1; i < word.size(); ++i) {
    const bool is_upper = kUpperCase.find(word[i]) != npos;
    if (is_upper && word[i - 1] >= 'a' && word[i - 1] <= 'z') start = i;
  }
  return lower_case(word.substr(start));
}

/// Whether a word is called as the field of a machine is that has its address or name.
bool names_a_field(std::string_view word) {
  constexpr std::array<std::string_view, 9> kParts = {"ip",        "ips",      "ipv4", "ipv6",     "address",
                                                      "addresses", "hostname", "name", "hostnames"};
  return std::ranges::find(kParts, last_part(word)) != kParts.end();
}

bool is_rule(std::string_view line) { return line.size() > 2 && line.find_first_not_of('-') == npos; }

/// The first word below a heading, without quotes.
std::string_view first_word(std::string_view below) {
  below = trim_space(below);
  while (below.starts_with('#')) {
    take_part(below, '\n');
    below = trim_space(below);
  }
  if (below.starts_with('"')) below.remove_prefix(1);
  return below.substr(0, below.find_first_of(" \t\r\n,;\""));
}

}  // namespace

void refuse_cell(std::string_view word, const HostEntry& line) {
  const std::string_view first = line.text.substr(0, line.text.find_first_of(" ,;"));
  const bool is_beside = word.data() > line.text.data() + 1;
  const bool is_state = std::ranges::find(kStates, word) != kStates.end() ||
                        (is_beside && (std::ranges::find(kStatesBeside, word) != kStatesBeside.end() ||
                                       (is_upper_case(word) && !is_upper_case(first))));
  if (is_fraction(word)) refuse(line.where, {"", "a table of kubectl", kPodsAdvice});
  if (is_state)
    refuse(line.where, {"", fmt::format("a table, with {:?} in it", word),
                        "one column: value(name) of gcloud, -o name of kubectl"});
  refuse_resource(word, {word, line.where});
  const std::size_t slash = word.find('/');
  if (slash == npos || slash == 0 || word.front() == '^' || word.starts_with("pod/") ||
      word.find("://") != npos || is_address(word.substr(0, slash)))
    return;
  line.refuse("host", word,
              fmt::format("the name alone, and --via 'kubectl -n {} exec -i {{host}} --' for a pod",
                          word.substr(0, slash)));
}

bool is_heading(std::string_view line, std::string_view below) {
  constexpr std::array<std::string_view, 25> kHeadings = {
      "NAME",        "name",       "IP_ADDRESS", "ip_address",      "INTERNAL_IP", "EXTERNAL_IP", "NODELIST",
      "NODE",        "NodeList",   "HOST",       "HOSTS",           "HOSTNAME",    "HOSTNAMES",   "IP",
      "POD_IP",      "ADDRESS",    "POD",        "PodIP",           "PODIP",       "INSTANCE",    "NAT_IP",
      "INTERNAL-IP", "NETWORK_IP", "hostname",   "PrivateIpAddress"};
  const bool is_of_ansible = line.starts_with("hosts (") && line.ends_with("):");
  if (is_rule(line) || is_of_ansible) return true;
  if (line.size() > 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
  if (std::ranges::find(kHeadings, line) != kHeadings.end()) return true;
  const std::string_view next = first_word(below);
  if (line.find_first_of(" ,;=[/") != npos || next.empty()) return false;
  const bool has_hyphen = line.find('-') != npos;  // as names of hosts have: vpc-ip
  const bool may_be_field = is_upper_case(line) ? std::ranges::find(kStates, line) == kStates.end()
                                                : !has_hyphen && names_a_field(line);
  return may_be_field && (is_address(next) || is_rule(next));
}

bool is_missing(std::string_view word) {
  constexpr std::array<std::string_view, 6> kMissing = {"None",   "null",      "<none>",
                                                        "(null)", "<unknown>", "<no"};
  return std::ranges::find(kMissing, word) != kMissing.end();
}

}  // namespace podrun::hosts
