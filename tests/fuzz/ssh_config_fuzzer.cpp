// SPDX-License-Identifier: Apache-2.0
// Any text as the user's ssh_config, which may include itself: what it says of a host is the same each time,
// and an option that says so first wins. No command is run that a name has become a part of.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "podrun/base/error.hpp"
#include "podrun/ssh/config/ssh_config.hpp"

#include "support/fake_config_world.hpp"

namespace {

using namespace podrun;

void expect(bool condition) {
  if (!condition) std::abort();
}

std::optional<ssh::SshSettings> settings_for(const std::string& text, const hosts::Host& host,
                                             const ssh::SshCommandLine& line) {
  test::FakeConfigWorld fake;
  fake.files["/home/me/.ssh/config"] = text;
  fake.files["/home/me/.ssh/more"] = text.substr(text.size() / 2);
  try {
    ssh::SshConfig config(fake.world(), line);
    ssh::SshSettings settings = config.settings_for(host);
    expect(!settings.host_name.empty() && !settings.user.empty() && settings.port != 0);
    const ssh::SshSettings again = config.settings_for(host);
    expect(again.host_name == settings.host_name && again.identity_files == settings.identity_files);
    expect(settings.proxy_command.empty() || settings.proxy_jump.empty());
    return settings;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const hosts::Host host = {.name = "host", .user = "listed"};
  const auto plain = settings_for(text, host, {});
  const auto with_option = settings_for(text, host, {.options = {"HostName=10.0.0.1", "Port=7"}});
  if (plain) expect(plain->user == "listed");
  if (with_option) expect(with_option->host_name == "10.0.0.1" && with_option->port == 7);
  settings_for(text, {.name = "$(touch x)"}, {});
  return 0;
}
