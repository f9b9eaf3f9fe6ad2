// SPDX-License-Identifier: Apache-2.0
// Any text as the value of -H, as a hosts file, as what Slurm and the metadata server give, and as what
// gcloud prints: UsageError, or hosts that are safe to use.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/config/described_hosts.hpp"
#include "podrun/hosts/host_list.hpp"
#include "podrun/hosts/host_pattern.hpp"
#include "podrun/hosts/tpu_metadata.hpp"

#include "support/fake_probe.hpp"

namespace {

template <typename Parse>
void check(Parse parse) try {
  const std::vector<podrun::hosts::Host> hosts = parse();
  if (hosts.size() > podrun::hosts::kMaxHosts) std::abort();
  for (const podrun::hosts::Host& host : hosts) {
    if (host.name.empty() || host.name.front() == '-' || host.user.starts_with('-')) std::abort();
    if (host.name.find_first_of("[]@ ") != std::string::npos) std::abort();
    if (host.address.find_first_of("[]@ ") != std::string::npos || host.address.starts_with('-'))
      std::abort();
    const std::string words = host.name + host.user + host.address;
    if (std::any_of(words.begin(), words.end(), podrun::is_control)) std::abort();
  }
} catch (const podrun::UsageError&) {
}

/// A description has one host a line, whatever its names are.
void check_description(const std::string& text) try {
  const std::optional<podrun::hosts::Description> described = podrun::config::hosts_of_description(text);
  if (!described) return;
  const std::string& list = described->list;
  const auto read = [&](const std::string&, std::string_view) { return described; };
  const auto hosts = podrun::hosts::parse_hosts_file(text, "standard input", podrun::FakeProbe(), read).hosts;
  if (hosts.size() != static_cast<std::size_t>(std::count(list.begin(), list.end(), '\n'))) std::abort();
} catch (const podrun::UsageError& error) {
  if (!std::string_view(error.what()).starts_with("standard input:")) std::abort();
  if (std::string_view(error.what()).starts_with("standard input:0")) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  podrun::FakeProbe probe;
  probe.files["f"] = text;
  check([&] { return podrun::hosts::parse_host_list({text}, "-H", probe).hosts; });
  check([&] { return podrun::hosts::parse_hosts_file(text, "hosts", probe).hosts; });
  check([&] { return podrun::hosts::parse_plain_list(text, "SLURM_JOB_NODELIST"); });
  check([&] { return podrun::hosts::parse_endpoints(text, "metadata server"); });
  check_description(text);
  return 0;
}
