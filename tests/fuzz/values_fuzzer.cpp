// SPDX-License-Identifier: Apache-2.0
// Any text as a small value, the first byte says of what: UsageError, or something within its bounds that
// reads back when it is written.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/tpu_metadata.hpp"
#include "podrun/ssh/config/proxy_jump.hpp"
#include "podrun/supervisor/environment.hpp"

#include "support/fake_probe.hpp"

namespace {

using namespace podrun;
using namespace std::chrono_literals;

void expect(bool condition) {
  if (!condition) std::abort();
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void check_duration(const std::string& text) {
  const std::chrono::seconds duration = parse_duration(text);
  expect(duration >= 0s && duration <= 10 * 365 * 24h);
  expect(text.find_first_not_of("0123456789smhd") == std::string::npos);
  std::string shown = format_duration(duration);  // 5 min
  shown.erase(shown.find(' '), 1);
  if (shown.ends_with("min")) shown.resize(shown.size() - 2);
  expect(parse_duration(shown) == duration);
}

void check_workers(const std::string& text) {
  std::vector<std::size_t> workers = parse_workers(text);
  const std::vector<std::size_t> again = parse_workers(fold_workers(workers));
  expect(!workers.empty() && workers.size() <= 1'000'000);
  std::sort(workers.begin(), workers.end());
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  expect(again == workers && workers.back() < 1'000'000);

  std::vector<hosts::Host> hosts = {
      {.worker = 0, .name = "a"}, {.worker = 3, .name = "b"}, {.worker = 5, .name = "c"}};
  hosts::narrow(hosts, {}, text);
  expect(hosts.size() == workers.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) expect(hosts[i].worker == workers[i]);
}

void check_proxy_jump(const std::string& text) {
  const std::vector<hosts::Host> hops = ssh::parse_proxy_jump(text);
  std::string written;
  for (const hosts::Host& hop : hops) {
    expect(!hop.name.empty() && hop.name.front() != '-');
    expect(hop.name.find_first_of(" /[],@") == std::string::npos);
    for (const std::string& word : {hop.name, hop.user})
      expect(std::none_of(word.begin(), word.end(), is_control));
    written += written.empty() ? "ssh://" : ",ssh://";
    if (!hop.user.empty()) written += hop.user + '@';
    written += fmt::format("[{}]", hop.name);
    if (hop.port != 0) written += fmt::format(":{}", hop.port);
  }
  expect(ssh::parse_proxy_jump(written) == hops);
}

void check_tpu_env(const std::string& text) {
  const std::map<std::string, std::string> variables = hosts::parse_tpu_env(text);
  std::string written;
  for (const auto& [name, value] : variables) {
    expect((name + value).find('\n') == std::string::npos);
    written += fmt::format("TPU_{}: '{}'\n", name, value);
  }
  expect(hosts::parse_tpu_env(written) == variables);

  const auto page = [](const std::string& body) {
    return hosts::HttpAnswer{.status = 200, .flavor = "Google", .body = body};
  };
  const std::string base = "http://server/computeMetadata/v1/instance/attributes/";
  FakeProbe probe;
  probe.variables["GCE_METADATA_HOST"] = "server";
  probe.pages[base + "worker-network-endpoints"] = page("10.0.0.1,10.0.0.2");
  probe.pages[base + "tpu-env"] = page(text);
  std::vector<hosts::TriedSource> tried;
  const auto listing = hosts::ask_metadata(probe, tried);
  expect(listing && listing->hosts.size() == 2 && listing->own_worker.value_or(0) < 2);
}

void check_env_file(const std::string& content) {
  std::vector<supervisor::Variable> variables;
  try {
    variables = supervisor::parse_env_file(content, "file");
  } catch (const UsageError& error) {
    expect(std::string(error.what()).starts_with("file:"));
    return;
  }
  std::string text;
  for (const supervisor::Variable& variable : variables) {
    expect(supervisor::is_variable_name(variable.name) && variable.value.find('\0') == std::string::npos);
    text += variable.name + '=' + shell_quote(variable.value) + '\n';
  }
  bool is_same = false;
  try {
    is_same = supervisor::parse_env_file(text, "again") == variables;
  } catch (const UsageError&) {
  }
  expect(is_same);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::array kChecks = {check_duration, check_workers, check_proxy_jump, check_tpu_env,
                                  check_env_file};
  try {
    kChecks[data[0] % kChecks.size()](std::string(data + 1, data + size));
  } catch (const UsageError&) {
  }
  return 0;
}
