// SPDX-License-Identifier: Apache-2.0
// Takes names from YAML or JSON, and addresses from gcloud's descriptions of TPUs and instances.
#include "podrun/config/described_hosts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/config/yaml_file.hpp"
#include "podrun/hosts/foreign_list.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/host_pattern.hpp"

namespace podrun::config {
namespace {

constexpr const char* kNames = "names or addresses, one a line, or a list of them in YAML or JSON";
constexpr const char* kReady = "the output of gcloud compute tpus tpu-vm describe for a TPU that is READY";

/// Whether a line occurs in YAML or JSON but not in a host list: `---`, `{`, `["`, `- x`, `key:`, `key: x`.
bool opens_description(std::string_view line) {
  if (line == "---" || line == "[" || line == "[]" || line.starts_with("- ") || line.starts_with('{'))
    return true;
  for (const char* start : {"[{", "[[", "[\"", "['"}) {
    if (line.starts_with(start)) return true;
  }
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && (colon + 1 == line.size() || line[colon + 1] == ' ') &&
         line.substr(0, colon).find_first_of(" [") == std::string_view::npos;
}

bool is_description(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trim_space(take_part(text, '\n'));
    if (!line.empty() && !line.starts_with('#')) return opens_description(line);
  }
  return false;
}

/// Whether it is gcloud's flattened format, which is no YAML for what it says. A text in a description may
/// have such lines, but they are indented.
bool has_flattened_line(std::string_view text) {
  while (!text.empty()) {
    if (hosts::is_flattened(take_part(text, '\n'))) return true;
  }
  return false;
}

std::string text_of(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && value.IsScalar() ? value.Scalar() : "";
}

/// `key`, if it is a list with something in it.
YAML::Node list_of(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && value.IsSequence() && value.size() > 0 ? value : YAML::Node(YAML::NodeType::Undefined);
}

/// `key` of the first map in `list`.
std::string text_in(const YAML::Node& node, const char* list, const char* key) {
  const YAML::Node items = list_of(node, list);
  return items.IsDefined() && items[0].IsMap() ? text_of(items[0], key) : "";
}

/// `projects/p/locations/z/nodes/a` is `a`.
std::string short_name(const YAML::Node& machine) {
  const std::string name = text_of(machine, "name");
  return name.substr(name.rfind('/') + 1);
}

/// A kind of document in which users look for hosts in vain.
struct Other {
  const char* key;
  const char* what;
  const char* advice;
};
constexpr std::array kOthers = {
    Other{"Reservations", "a whole answer of aws",
          "a list: --query 'Reservations[].Instances[].PrivateIpAddress' --output text"},
    Other{"apiVersion", "an object of Kubernetes",
          "a list: kubectl get pods -o jsonpath='{.items[*].status.podIP}'"},
    Other{"all", "an inventory of Ansible", hosts::kInventoryAdvice},
};

constexpr const char* kInstance = "an instance with an address in its first network interface";

class DescriptionReader {
 public:
  DescriptionReader(std::string_view where, Addresses which) : where_(where), which_(which) {}

  void add(const YamlPart& part) {
    try {
      for (const YAML::Node& document : load_yaml(part.text)) documents_.push_back(document);
    } catch (const YAML::Exception& error) {
      const bool is_of_gcloud = std::ranges::any_of(hosts::kNetworkLists, [&](std::string_view name) {
        return part.text.find(name) != std::string::npos;
      });
      throw UsageError(fmt::format("{}:{}: {} (expected {})", where_,
                                   part.line + static_cast<std::size_t>(error.mark.line) + 1, error.msg,
                                   is_of_gcloud ? "gcloud's description with --format json" : kNames));
    }
  }

  hosts::Description read() {
    const YAML::Node first = documents_.empty() ? YAML::Node() : documents_.front();
    is_single_ = documents_.size() == 1 && (first.IsMap() || (first.IsSequence() && first.size() == 1));
    for (const YAML::Node& document : documents_) add(document);
    if (hosts_.empty() && result_.notes.empty())
      throw UsageError(fmt::format("{}: an empty list, no TPU in it (expected {})", where_, kReady));
    if (hosts_.empty())
      throw UsageError(fmt::format("{} (no other TPU or instance in it)", result_.notes.front()));
    note_joined_tpus();
    for (const std::string& host : hosts_) result_.list += host + '\n';
    return std::move(result_);
  }

 private:
  struct Tpu {
    std::string name;
    std::string type;
    std::string queued_resource;
  };

  void add(const YAML::Node& node) {
    if (node.IsSequence()) {
      for (const YAML::Node& item : node) add(item);
    } else if (node.IsMap()) {
      add_machine(node);
    } else if (node.IsScalar()) {
      add_name(node.Scalar());
    } else {
      throw UsageError(fmt::format("{}: null is no host (expected {})", where_, kNames));
    }
  }

  /// A name must not become several hosts, words or a comment of the list.
  void add_name(const std::string& name) {
    result_.has_names = true;
    hosts::parse_host(name, {name, where_});
    add_host(name);
  }

  void add_host(const std::string& host) {
    if (hosts_.size() == hosts::kMaxHosts)
      throw UsageError(fmt::format("{}: too many hosts (expected at most {})", where_, hosts::kMaxHosts));
    hosts_.push_back(host);
  }

  void add_machine(const YAML::Node& machine) {
    if (machine["networkInterfaces"]) return add_instance(machine);
    if (machine["networkEndpoints"] || machine["acceleratorType"]) return add_tpu(machine);
    if (machine["ipAddress"]) return add_host(address(address_in(machine), "ipAddress", 0, ""));
    if (machine["ip_address"]) return add_host(address(text_of(machine, "ip_address"), "ip_address", 0, ""));
    for (const Other& other : kOthers) {
      if (machine[other.key])
        throw UsageError(fmt::format("{}: this is {} (expected {})", where_, other.what, other.advice));
    }
    if (machine["tpu"] || text_of(machine, "name").find("/queuedResources/") != std::string::npos)
      refuse_queued(machine);
    if (machine["state"] || machine["health"]) return add_tpu(machine);
    const bool is_field = machine.size() > 0 && machine.begin()->second.IsScalar() &&
                          hosts::is_address(machine.begin()->second.Scalar());
    throw UsageError(fmt::format(
        "{}: no list of hosts in this YAML or JSON (expected {}{})", where_, kNames,
        is_field ? "; gcloud's description of machines has --format json, a field has value(…)" : ""));
  }

  [[noreturn]] void refuse_queued(const YAML::Node& machine) const {
    const YAML::Node state = machine["state"];
    const std::string said = state && state.IsMap() ? text_of(state, "state") : "";
    throw UsageError(fmt::format(
        "{}: {}{} has no addresses (expected the output of gcloud compute "
        "tpus tpu-vm describe for its node)",
        where_,
        short_name(machine).empty() ? "a queued resource"
                                    : fmt::format("the queued resource {:?}", short_name(machine)),
        said.empty() ? "" : ", " + said + ","));
  }

  /// Whether the machine works. If not, a note says so, and a list goes on without it.
  bool is_usable(const YAML::Node& machine, std::string_view what, const char* key) {
    const std::string state = text_of(machine, key);
    if (state.empty() || state == "READY" || state == "RUNNING") return true;
    result_.notes.push_back(fmt::format("{}: the {} {:?} is {}{}", where_, what, short_name(machine), state,
                                        is_single_ ? "" : ", so it is left out"));
    return is_single_;
  }

  void add_instance(const YAML::Node& instance) {
    if (!is_usable(instance, "instance", "status")) return;
    const YAML::Node interfaces = list_of(instance, "networkInterfaces");
    const YAML::Node first = interfaces.IsDefined() ? interfaces[0] : YAML::Node();
    std::string found;
    if (first.IsMap())
      found = is_external() ? text_in(first, "accessConfigs", "natIP") : text_of(first, "networkIP");
    if (found.empty() && first.IsMap())
      found =
          is_external() ? text_in(first, "ipv6AccessConfigs", "externalIpv6") : text_of(first, "ipv6Address");
    add_host(address(found, is_external() ? "natIP" : "networkIP", 0, short_name(instance)));
  }

  /// Adds the address of every worker. A TPU with several networks lists one endpoint for each network of a
  /// worker, the primary one first.
  void add_tpu(const YAML::Node& tpu) {
    const std::string name = short_name(tpu);
    if (!is_usable(tpu, "TPU", "state") && !is_single_) return;
    if (const std::string health = text_of(tpu, "health"); health.starts_with("UNHEALTHY"))
      result_.notes.push_back(fmt::format("{}: the TPU {:?} is {}", where_, name, health));
    tpus_.push_back({name, text_of(tpu, "acceleratorType"), text_of(tpu, "queuedResource")});
    const YAML::Node endpoints = list_of(tpu, "networkEndpoints");
    const bool is_of_one_host = !endpoints.IsDefined() && tpu["ipAddress"] && which_ == Addresses::internal;
    if (is_of_one_host) return add_host(address(text_of(tpu, "ipAddress"), "ipAddress", 0, name));
    if (!endpoints.IsDefined()) {
      const std::string state = text_of(tpu, "state");
      throw UsageError(fmt::format("{}: no networkEndpoints{}{} (expected {})", where_,
                                   name.empty() ? "" : fmt::format(" of {:?}", name),
                                   state.empty() ? "" : fmt::format(", its state is {}", state), kReady));
    }
    const YAML::Node networks = list_of(tpu, "networkConfigs");
    const std::size_t step = networks.IsDefined() ? networks.size() : 1;
    for (std::size_t i = 0; i < endpoints.size(); i += step) {
      const std::string found = endpoints[i].IsMap() ? address_in(endpoints[i]) : "";
      add_host(address(found, which_ == Addresses::external ? "externalIp" : "ipAddress", i / step, name));
    }
  }

  bool is_external() const { return which_ == Addresses::external; }

  std::string address_in(const YAML::Node& endpoint) const {
    if (which_ == Addresses::internal) return text_of(endpoint, "ipAddress");
    const YAML::Node access = endpoint["accessConfig"];
    return access && access.IsMap() ? text_of(access, "externalIp") : "";
  }

  /// The address itself. Any other text could be a range, a comment or this machine in a host list.
  std::string address(const std::string& found, const char* key, std::size_t worker,
                      const std::string& name) const {
    if (hosts::is_address(found)) return found;
    if (found.empty() && is_external())
      throw UsageError(
          fmt::format("{}: no {} of worker {}{} (it has no external address: leave out --external)", where_,
                      key, worker, name.empty() ? "" : fmt::format(" of {:?}", name)));
    throw UsageError(fmt::format(
        "{}: {} {} of worker {}{}{} (expected {})", where_, found.empty() ? "no" : "bad", key, worker,
        name.empty() ? "" : fmt::format(" of {:?}", name), found.empty() ? "" : fmt::format(": {:?}", found),
        std::string_view(key) == "networkIP" ? kInstance : kReady));
  }

  /// Slices of one job have one queued resource, or one type and names that end with a number.
  static bool belong_together(const Tpu& one, const Tpu& other) {
    if (!one.queued_resource.empty()) return one.queued_resource == other.queued_resource;
    const auto stem = [](const std::string& name) {
      return name.substr(0, name.find_last_not_of("0123456789") + 1);
    };
    return one.type == other.type && stem(one.name) == stem(other.name);
  }

  void note_joined_tpus() {
    const auto is_other = [this](const Tpu& tpu) { return !belong_together(tpus_.front(), tpu); };
    if (std::none_of(tpus_.begin(), tpus_.end(), is_other)) return;
    std::vector<std::string> names;
    for (const Tpu& tpu : tpus_) names.push_back(tpu.name.empty() ? tpu.type : tpu.name);
    result_.notes.push_back(
        fmt::format("{}: one list joins {} TPUs: {}", where_, tpus_.size(), join(names, ", ")));
  }

  std::string_view where_;
  Addresses which_;
  std::vector<YAML::Node> documents_;
  bool is_single_ = false;  ///< one description, not a list
  std::vector<Tpu> tpus_;
  std::vector<std::string> hosts_;
  hosts::Description result_;
};

}  // namespace

std::optional<hosts::Description> hosts_of_description(const std::string& text, Addresses which,
                                                       std::string_view where) {
  if (!is_description(text) || has_flattened_line(text)) return std::nullopt;
  DescriptionReader reader(where, which);
  for (const YamlPart& part : separate_documents(text)) reader.add(part);
  return reader.read();
}

}  // namespace podrun::config
