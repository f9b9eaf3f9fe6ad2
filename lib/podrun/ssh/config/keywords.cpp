// SPDX-License-Identifier: Apache-2.0
// Lists every keyword of ssh_config(5): those with a setting, those not supported, and those ignored.
#include "podrun/ssh/config/keywords.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "podrun/base/text.hpp"

namespace podrun::ssh {
namespace {

constexpr std::array kUnsupported = std::to_array<UnsupportedKeyword>({
    // About the route.
    {"ProxyUseFdpass", "no,false",
     "a ProxyCommand that carries the data itself, such as nc without -F, and -o ProxyUseFdpass=no; or --via "
     "'ssh {host}'"},
    {"BindInterface", "none", "BindAddress takes the address of the interface"},
    {"RefuseConnection", "none", "it refuses this connection"},
    // About trust: without these podrun would accept keys that ssh refuses.
    {"RevokedHostKeys", "none", "put @revoked lines into known_hosts"},
    {"KnownHostsCommand", "none",
     "put the keys that it prints into a file: -o UserKnownHostsFile=FILE -o KnownHostsCommand=none; or "
     "--via 'ssh {host}'"},
    {"VerifyHostKeyDNS", "no,false,ask",
     "keys are not looked up in the DNS, only in known_hosts: -o VerifyHostKeyDNS=no"},
    {"CheckHostIP", "no,false", "host keys are looked up by name alone: -o CheckHostIP=no"},
    // Only valid in a file.
    {"Host", "", "it begins a block of a configuration file"},
    {"Match", "", "it begins a block of a configuration file"},
    {"Include", "", "give its keywords one by one"},
});

// podrun has no forwarding, no terminal and no shared connections, so most of these keywords are about things
// it does not do. Missing ways to log in can only make the login fail. UpdateHostKeys only adds to
// known_hosts. Without NoHostAuthenticationForLocalhost podrun is stricter. The last lines are names from
// older versions.
constexpr std::array kIgnored = std::to_array<std::string_view>({
    // clang-format off
    "AddKeysToAgent", "CanonicalizeFallbackLocal",
    "CanonicalizePermittedCNAMEs", "CASignatureAlgorithms", "ChannelTimeout", "ClearAllForwardings",
    "ControlMaster", "ControlPath", "ControlPersist", "DynamicForward",
    "EnableEscapeCommandline", "EnableSSHKeysign", "EscapeChar", "ExitOnForwardFailure", "FingerprintHash",
    "ForkAfterAuthentication", "ForwardAgent", "ForwardX11", "ForwardX11Timeout", "ForwardX11Trusted",
    "GatewayPorts", "GSSAPIAuthentication", "GSSAPIClientIdentity", "GSSAPIDelegateCredentials",
    "GSSAPIKexAlgorithms", "GSSAPIKeyExchange", "GSSAPIRenewalForcesRekey", "GSSAPIServerIdentity",
    "GSSAPITrustDns", "HostbasedAcceptedAlgorithms", "HostbasedAuthentication", "IPQoS",
    "KbdInteractiveDevices", "LocalCommand", "LocalForward", "LogLevel", "LogVerbose",
    "NoHostAuthenticationForLocalhost", "ObscureKeystrokeTiming", "PermitLocalCommand", "PermitRemoteOpen",
    "PKCS11Provider", "RekeyLimit", "RemoteCommand", "RemoteForward", "RequestTTY", "SecurityKeyProvider",
    "SendEnv", "SessionType", "SetEnv", "StdinNull", "StreamLocalBindMask", "StreamLocalBindUnlink",
    "SyslogFacility", "TCPKeepAlive", "Tunnel", "TunnelDevice", "UpdateHostKeys", "VersionAddendum",
    "VisualHostKey", "WarnWeakCrypto", "XAuthLocation", "AFSTokenPassing", "Cipher", "CompressionLevel",
    "DSAAuthentication", "FallBackToRsh", "GlobalKnownHostsFile2", "HostbasedKeyTypes", "KeepAlive",
    "KerberosAuthentication", "KerberosTGTPassing", "Protocol", "ProtocolKeepAlives", "RhostsAuthentication",
    "RhostsRSAAuthentication", "RSAAuthentication", "SetupTimeOut", "SkeyAuthentication", "SmartcardDevice",
    "TISAuthentication", "UseBlacklistedKeys", "UsePrivilegedPort", "UserKnownHostsFile2", "UseRoaming",
    "UseRsh",
    // clang-format on
});

/// By name in lower case.
using Keywords = std::unordered_map<std::string, KnownKeyword>;

Keywords make_keywords() {
  Keywords keywords;
  const auto add = [&](KnownKeyword keyword) {
    keyword.id = keywords.size();
    keywords.emplace(lower_case(keyword.name), keyword);
  };
  for (const SettingKeyword& setting : setting_keywords()) add({setting.name, 0, &setting, nullptr});
  for (const UnsupportedKeyword& unsupported : kUnsupported)
    add({unsupported.name, 0, nullptr, &unsupported});
  for (const std::string_view name : kIgnored) add({name, 0, nullptr, nullptr});
  // Their older names.
  keywords.emplace("pubkeyacceptedkeytypes", keywords.at("pubkeyacceptedalgorithms"));
  keywords.emplace("challengeresponseauthentication", keywords.at("kbdinteractiveauthentication"));
  return keywords;
}

const Keywords& keywords() {
  static const Keywords all = make_keywords();
  return all;
}

}  // namespace

const KnownKeyword* find_keyword(std::string_view keyword) {
  const auto found = keywords().find(lower_case(keyword));
  return found == keywords().end() ? nullptr : &found->second;
}

std::optional<std::string> nearest_keyword(std::string_view keyword) {
  std::vector<std::string_view> names;
  for (const auto& [name, known] : keywords()) names.push_back(known.name);
  std::sort(names.begin(), names.end());
  return nearest_name(keyword, names);
}

}  // namespace podrun::ssh
