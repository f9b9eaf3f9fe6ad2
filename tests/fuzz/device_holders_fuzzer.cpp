// SPDX-License-Identifier: Apache-2.0
// Anything as what a host says of the processes that have its accelerators open: a list of bounded size, and
// words that are safe on a terminal.
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "podrun/devices/device_holders.hpp"
#include "podrun/kill/kill_report.hpp"
#include "podrun/supervisor/mark.hpp"

namespace {

constexpr std::size_t kMost = 1024;
constexpr std::size_t kMostText = 512;

void expect(bool condition) {
  if (!condition) std::abort();
}

void expect_printable(const std::string& line) {
  for (const char c : line) expect(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

/// A command with it may be suggested.
void expect_plain(const std::string& name) {
  for (const char c : name)
    expect(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string reply(data, data + size);
  const podrun::devices::DeviceHolders list =
      podrun::devices::parse_device_holders("noise\npodrun-kill n\n" + reply, "podrun-kill n");
  expect(list.holders.size() <= kMost && list.devices.size() <= kMost && list.above.size() <= kMost &&
         list.marks.size() <= kMost);
  for (const podrun::devices::DeviceHolder& holder : list.holders) {
    expect(holder.pid > 0 && holder.command.size() <= kMostText && holder.user.size() <= kMostText);
    expect_plain(podrun::supervisor::run_of(holder.mark) + podrun::supervisor::job_of(holder.mark));
  }

  const std::vector<podrun::hosts::Host> hosts = {{.worker = 0, .name = "a"}};
  const std::vector<podrun::kill::ListedHost> listed = {{0, list, podrun::kill::choose(list, {})}};
  expect(listed.front().choices.size() == list.holders.size());
  for (const podrun::kill::Choice& choice : listed.front().choices)
    expect(!choice.why_kept.empty() || choice.holder.uid == list.uid);
  for (const std::string& line : podrun::kill::describe_choices(hosts, listed, " - ")) expect_printable(line);
  expect_printable(podrun::kill::describe_result(hosts, listed, listed, " - "));
  const std::string json = podrun::kill::kill_json({}, hosts, {podrun::link::Exited{0}}, listed, listed);
  expect(json.starts_with(R"({"v":1,"event":"kill")"));
  return 0;
}
