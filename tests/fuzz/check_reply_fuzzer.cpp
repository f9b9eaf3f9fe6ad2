// SPDX-License-Identifier: Apache-2.0
// Anything as what a host says of itself to podrun check: facts of bounded size, whatever its rc files print
// before, and a report that is safe on a terminal.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "podrun/check/check_reply.hpp"
#include "podrun/check/check_report.hpp"

namespace {

constexpr std::size_t kMost = 256;

void expect(bool condition) {
  if (!condition) std::abort();
}

void check_bounds(const podrun::check::HostFacts& facts) {
  expect(facts.devices.size() <= kMost && facts.holders.size() <= kMost && facts.disks.size() <= kMost);
  for (const auto& [name, value] : facts.values) expect(!value.empty() && value.size() <= kMost);
  for (const podrun::check::DiskSpace& disk : facts.disks) expect(disk.mount.size() <= kMost);
  for (const podrun::check::HeldDevice& holder : facts.holders)
    expect(!holder.pid.empty() && holder.pid.find_first_not_of("0123456789") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string reply(data, data + size);
  podrun::check::HostFacts facts = podrun::check::parse_check_reply("podrun-check n\n" + reply, "n");
  expect(facts.answered);
  check_bounds(facts);
  const podrun::check::HostFacts again =
      podrun::check::parse_check_reply("noise\nkernel x\n\npodrun-check n\n" + reply, "n");
  expect(again.values == facts.values && again.complete == facts.complete && again.clock == facts.clock);

  using namespace std::chrono_literals;
  const std::vector<podrun::hosts::Host> hosts = {{.worker = 0, .name = "a"}, {.worker = 1, .name = "b"}};
  const auto clock = podrun::check::clock_offset(facts, 1'795'289'820s, 20ms);
  podrun::check::CheckedHost other{podrun::link::Exited{0}};
  other.facts.answered = other.facts.complete = true;
  const std::vector<podrun::check::CheckedHost> checked = {{podrun::link::Exited{0}, facts, clock}, other};
  const podrun::check::CheckReport report = podrun::check::compare_hosts(checked, {"python3", "~/app"});
  for (const std::string& line : podrun::check::describe_check(hosts, report, " - ")) {
    for (const char c : line) expect(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
  expect(podrun::check::check_json({}, hosts, checked, report).starts_with(R"({"v":1,"event":"check")"));
  return 0;
}
