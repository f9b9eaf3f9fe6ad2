// SPDX-License-Identifier: Apache-2.0
// Runs a command as a program does that embeds podrun: from structs, without a command line.
#include <memory>
#include <string>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/hosts/host_list.hpp"
#include "podrun/reach/run_connectors.hpp"
#include "podrun/run/fan_out.hpp"

#include "unit/run/fan_out_fixture.hpp"

namespace podrun::reach {
namespace {

using Texts = std::vector<std::string>;

TEST(EmbeddedRun, RunsACommandOnThisMachine) {
  const std::unique_ptr<hosts::Probe> probe = hosts::make_system_probe();
  ReachPlan plan = plan_reach({}, *probe);
  run::RunPlan run;
  run.run_id = supervisor::random_id();
  run.hosts = hosts::parse_host_list({"local[0-1]"}, "here", *probe);
  run.command = supervisor::build_command({supervisor::ShellText{"true; echo $PODRUN_RANK"}, {}});
  find_settings(plan, run.hosts, run.limits);
  EXPECT_EQ(count_hosts(plan, run).by_child, 2U);

  local::TransportCommands transports;
  const auto context = std::make_shared<asio::io_context>(1);
  SshState ssh(plan);
  const Connectors connectors(context, plan, run, ssh, *probe, 0, transports);
  const test::Pipe out;
  const test::Pipe err;
  const auto lines = std::make_shared<Texts>();
  {
    output::Output output(
        context->get_executor(), run.hosts.size(),
        std::vector<std::shared_ptr<output::Sink>>{std::make_shared<test::RecordingSink>(lines)},
        std::make_shared<output::Terminal>(out.write_fd(), err.write_fd()), [](const output::WriteError&) {});
    run::FanOut fan_out(run, {.executor = context->get_executor(),
                              .connector_for = [&](const hosts::Host& host) -> link::Connector& {
                                return connectors.at(host);
                              },
                              .output = output,
                              .leave = [] {},
                              .tell = [](const run::Notice&) {}});
    asio::co_spawn(*context, fan_out.run(), [&](const std::exception_ptr& error) {
      EXPECT_FALSE(error);
      context->stop();
    });
    context->run_for(test::kDeadline);
    const run::HostOutcome success = link::Exited{0};
    EXPECT_THAT(fan_out.policy().outcomes(), testing::ElementsAre(success, success));
  }
  EXPECT_THAT(*lines, testing::UnorderedElementsAre("0 out: 0", "1 out: 1"));
}

}  // namespace
}  // namespace podrun::reach
