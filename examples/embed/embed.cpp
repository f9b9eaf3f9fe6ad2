// SPDX-License-Identifier: Apache-2.0
// Runs a command on hosts from a program of its own: embed HOSTS COMMAND
#include <csignal>
#include <iostream>
#include <podrun/hosts/host_list.hpp>
#include <podrun/report/summary.hpp>
#include <podrun/session/ask_hosts.hpp>

int main(int count, char** words) try {
  if (count != 3) throw podrun::UsageError("expected HOSTS COMMAND (embed 'tpu-[0-3]' uptime)");
  std::signal(SIGPIPE, SIG_IGN);  // a connection may close while podrun writes to it
  const auto probe = podrun::hosts::make_system_probe();
  const auto hosts = podrun::hosts::parse_host_list({words[1]}, "HOSTS", *probe).hosts;
  const auto guest = podrun::session::guest_session(hosts, *probe);
  podrun::session::Session session(guest, *probe, podrun::session::Session::Connections::closed);
  const auto run = podrun::session::users_command(guest, {podrun::supervisor::ShellText{words[2]}});
  const auto answers = podrun::session::collect(session, run);
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    std::cout << hosts[host].name << ": " << podrun::report::describe(answers.result.outcomes[host]) << '\n'
              << answers.texts[host];
    std::cerr << answers.errors[host];
  }
  return answers.result.status;
} catch (const podrun::UsageError& error) {
  std::cerr << "embed: " << error.what() << '\n';
  return 2;
}
