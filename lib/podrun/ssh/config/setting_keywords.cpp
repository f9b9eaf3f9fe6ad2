// SPDX-License-Identifier: Apache-2.0
// The keywords of ssh_config(5) with a setting, and the setting that each one fills.
#include <algorithm>
#include <array>
#include <cstdint>

#include "podrun/base/text.hpp"
#include "podrun/ssh/config/keywords.hpp"
#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/config/ssh_config_value.hpp"

namespace podrun::ssh {
namespace {

using Settings = SshSettings;
using Value = ConfigValue;

void set_address_family(Settings& settings, const Value& value) {
  using Family = AddressFamily;
  settings.address_family = value.choice<Family>(
      {{"any", Family::any}, {"inet", Family::ipv4}, {"inet6", Family::ipv6}}, "any, inet or inet6");
}

void set_host_key_check(Settings& settings, const Value& value) {
  using Check = HostKeyCheck;
  settings.host_key_check = value.choice<Check>({{"yes", Check::yes},
                                                 {"true", Check::yes},
                                                 {"accept-new", Check::accept_new},
                                                 {"no", Check::no},
                                                 {"off", Check::no},
                                                 {"false", Check::no},
                                                 {"ask", Check::ask}},
                                                "accept-new, yes, no or ask");
}

void set_connect_timeout(Settings& settings, const Value& value) {
  if (value.is_none()) return;
  if (const auto duration = value.duration(); duration.count() > 0) settings.connect_timeout = duration;
}

void set_alive_interval(Settings& settings, const Value& value) {
  if (!value.is_none()) settings.alive_interval = value.duration();
}

void add_file(Settings& settings, std::vector<std::string>& files, const Value& value) {
  files.push_back(value.is_none() ? "none" : value.path());
  if (value.is_from_file()) settings.optional_files.push_back(files.back());
}

void add_certificate(Settings& settings, const Value& value) {
  if (!value.is_none()) add_file(settings, settings.certificate_files, value);
}

template <AlgorithmKind kind, std::string Settings::*list>
void set_algorithms(Settings& settings, const Value& value) {
  settings.*list = value.algorithms(kind);
}

template <bool Settings::*flag>
void set_flag(Settings& settings, const Value& value) {
  settings.*flag = value.flag();
}

template <std::string Settings::*text>
void set_text(Settings& settings, const Value& value) {
  settings.*text = value.word();
}

/// Only checks the value, which ConfigSelection reads.
void check_word(Settings&, const Value& value) { value.word(); }

void check_canonicalization(Settings&, const Value& value) {
  value.choice<bool>(
      {{"no", false}, {"false", false}, {"none", false}, {"yes", true}, {"true", true}, {"always", true}},
      "no, yes or always");
}

/// Keys are offered unless it is `no`; the other values are about the protocol.
void set_keys(Settings& settings, const Value& value) {
  settings.public_key_authentication = value.choice<bool>({{"no", false},
                                                           {"false", false},
                                                           {"yes", true},
                                                           {"true", true},
                                                           {"unbound", true},
                                                           {"host-bound", true}},
                                                          "yes, no, unbound or host-bound");
}

void set_rsa_size(Settings& settings, const Value& value) {
  constexpr unsigned kLeast = 1024;  // ssh's minimum, whatever is configured
  settings.required_rsa_size = std::max(kLeast, value.number(0U, "a number of bits"));
}

constexpr SettingKeyword trust(std::string_view name, void (*apply)(Settings&, const Value&)) {
  return {.name = name, .apply = apply, .reach = Reach::jump_hosts_too};
}

void add_identity(Settings& s, const Value& v) { add_file(s, s.identity_files, v); }

constexpr std::array kKeywords = std::to_array<SettingKeyword>({
    {"HostName", check_word},
    {"Tag", check_word},
    trust("CanonicalizeHostname", check_canonicalization),
    {"CanonicalDomains", [](Settings&, const Value&) {}},
    {"CanonicalizeMaxDots", [](Settings&, const Value& v) { v.number(0U, "a number"); }},
    {"User", set_text<&Settings::user>},
    {"Port", [](Settings& s, const Value& v) { s.port = v.number<std::uint16_t>(1, "1-65535"); }},
    {"AddressFamily", set_address_family},
    {"BindAddress", set_text<&Settings::bind_address>},
    {"ProxyCommand", [](Settings& s, const Value& v) { s.proxy_command = v.command(); }},
    {"ProxyJump", [](Settings& s, const Value& v) { s.proxy_jump = v.jump_hosts(); }, Repeat::first_counts,
     "ProxyCommand"},
    {"ServerAliveInterval", set_alive_interval, Repeat::first_but_none_counts},
    {"ServerAliveCountMax",
     [](Settings& s, const Value& v) { s.alive_count_max = v.number(0U, "a number"); }},
    {"Compression", set_flag<&Settings::compression>},
    {"ConnectTimeout", set_connect_timeout, Repeat::first_but_none_counts},
    {"ConnectionAttempts",
     [](Settings& s, const Value& v) { s.connection_attempts = v.number(1U, "a number from 1"); }},
    {"IdentityFile", add_identity, Repeat::adds_up},
    {"IdentityFile2", add_identity, Repeat::adds_up},
    {"CertificateFile", add_certificate, Repeat::adds_up},
    {"IdentitiesOnly", set_flag<&Settings::identities_only>},
    {"IdentityAgent", [](Settings& s, const Value& v) { s.agent_socket = v.agent_socket(); }},
    {"HostKeyAlias", [](Settings& s, const Value& v) { s.host_key_alias = lower_case(v.word()); }},
    {"IgnoreUnknown", check_word},
    trust("StrictHostKeyChecking", set_host_key_check),
    trust("UserKnownHostsFile", [](Settings& s, const Value& v) { s.user_known_hosts = v.paths(); }),
    trust("GlobalKnownHostsFile", [](Settings& s, const Value& v) { s.global_known_hosts = v.home_paths(); }),
    trust("HashKnownHosts", set_flag<&Settings::hash_known_hosts>),
    trust("RequiredRSASize", set_rsa_size),
    trust("BatchMode", set_flag<&Settings::batch_mode>),
    {"PubkeyAuthentication", set_keys},
    trust("PasswordAuthentication", set_flag<&Settings::password_authentication>),
    trust("KbdInteractiveAuthentication", set_flag<&Settings::kbd_interactive_authentication>),
    trust("PreferredAuthentications", set_text<&Settings::preferred_authentications>),
    trust("NumberOfPasswordPrompts",
          [](Settings& s, const Value& v) { s.password_prompts = v.number(1U, "a number from 1"); }),
    trust("KexAlgorithms", set_algorithms<AlgorithmKind::kex, &Settings::kex_algorithms>),
    trust("HostKeyAlgorithms", set_algorithms<AlgorithmKind::host_key, &Settings::host_key_algorithms>),
    trust("Ciphers", set_algorithms<AlgorithmKind::cipher, &Settings::ciphers>),
    trust("MACs", set_algorithms<AlgorithmKind::mac, &Settings::macs>),
    trust("PubkeyAcceptedAlgorithms",
          set_algorithms<AlgorithmKind::public_key, &Settings::public_key_algorithms>),
});

}  // namespace

std::span<const SettingKeyword> setting_keywords() { return kKeywords; }

}  // namespace podrun::ssh
