// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/rank_variables.hpp"

namespace podrun::run {
namespace {

/// This machine's address as others can use it: podrun's end of a connection, else as a host sees it.
std::string address_of_this_machine(const std::vector<Member>& members) {
  for (const Member& member : members) {
    if (!member.own_address.empty()) return member.own_address;
  }
  for (const Member& member : members) {
    if (member.hello && !member.hello->client_address.empty()) return member.hello->client_address;
  }
  return "127.0.0.1";
}

std::string address_of(const Member& member, const std::vector<Member>& members) {
  if (member.hello && !member.hello->server_address.empty()) return member.hello->server_address;
  if (member.host->kind != hosts::HostKind::local) return hosts::address_of(*member.host);
  return address_of_this_machine(members);
}

}  // namespace

supervisor::RankVariables shared_variables(const std::vector<Member>& members, const std::string& run_id) {
  supervisor::RankVariables variables;
  variables.hosts = members.size();
  variables.run_id = run_id;
  for (const Member& member : members) {
    if (!variables.host_list.empty()) variables.host_list += '\n';
    variables.host_list += member.host->name;
    if (!variables.addresses.empty()) variables.addresses += '\n';
    variables.addresses += address_of(member, members);
    if (&member != &members.front()) variables.slot_list += '\n';
    if (member.host->slots != 0) variables.slot_list += std::to_string(member.host->slots);
  }
  if (variables.slot_list.find_first_not_of('\n') == std::string::npos) variables.slot_list.clear();
  variables.host0 = address_of_rank0(members);
  return variables;
}

std::string address_of_rank0(const std::vector<Member>& members) {
  return address_of(members.front(), members);
}

std::string early_go(const supervisor::RemoteCommand& command, const std::string& text_of_host,
                     const hosts::Host& host, const std::string& run_id) {
  if (!command.files.empty()) return {};
  supervisor::RankVariables variables = shared_variables({{&host, nullptr}}, run_id);
  variables.worker = host.worker;
  variables.host = host.name;
  variables.slots = host.slots;
  if (host.kind == hosts::HostKind::remote) variables.host0.clear();  // it knows its own address
  return supervisor::go_of_host(variables) + text_of_host + supervisor::go_of_all(command, variables);
}

}  // namespace podrun::run
