// SPDX-License-Identifier: Apache-2.0
// Any text as the value of -H, as a hosts file, and as what Slurm and the metadata server give: UsageError,
// or hosts that are safe to use.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "podrun/base/error.hpp"
#include "podrun/hosts/host_list.hpp"
#include "podrun/hosts/host_pattern.hpp"
#include "podrun/hosts/tpu_metadata.hpp"

#include "support/fake_probe.hpp"

namespace {

template <typename Parse>
void check(Parse parse) try {
  const std::vector<podrun::Host> hosts = parse();
  if (hosts.size() > podrun::kMaxHosts) std::abort();
  for (const podrun::Host& host : hosts) {
    if (host.name.empty() || host.name.front() == '-' || host.user.starts_with('-')) std::abort();
    if (host.name.find_first_of("[]@/ \t\r\n") != std::string::npos) std::abort();
  }
} catch (const podrun::UsageError&) {
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  podrun::FakeProbe probe;
  probe.files["f"] = text;
  check([&] { return podrun::parse_host_list({text}, "-H", probe); });
  check([&] { return podrun::parse_hosts_file(text, "hosts"); });
  check([&] { return podrun::parse_plain_list(text, "SLURM_JOB_NODELIST"); });
  check([&] { return podrun::parse_endpoints(text, "metadata server"); });
  return 0;
}
