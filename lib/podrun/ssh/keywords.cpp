// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/keywords.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "podrun/ssh/pattern.hpp"

namespace podrun {
namespace {

constexpr std::array kUnsupported = std::to_array<UnsupportedKeyword>({
    // The route.
    {"ProxyJump", "none", "for now: --via 'ssh -J JUMP {host}'"},
    {"ProxyCommand", "none", "for now: --via 'ssh {host}'"},
    {"ProxyUseFdpass", "no,false", "it belongs to ProxyCommand"},
    {"BindInterface", "none", "BindAddress takes the address of the interface"},
    {"CanonicalizeHostname", "no,false,none", "write the whole names of the hosts"},
    {"RefuseConnection", "none", "it refuses this connection"},
    // The trust: without these, keys would be taken that ssh refuses.
    {"RevokedHostKeys", "none", "put @revoked lines into known_hosts"},
    {"KnownHostsCommand", "none", "put the keys into a file and name it in UserKnownHostsFile"},
    {"VerifyHostKeyDNS", "no,false,ask", "keys are not looked up in the DNS"},
    {"RequiredRSASize", "1024,2048", "RSA keys must have 2048 bits"},
    {"PubkeyAuthentication", "yes,true,unbound,host-bound", "podrun logs in with keys only"},
    // What only a file can have.
    {"Host", "", "it begins a block of a configuration file"},
    {"Match", "", "it begins a block of a configuration file"},
    {"Include", "", "give its keywords one by one"},
});

// No forwarding, no terminal, one connection of our own: most keywords are about what podrun does not do.
// Ways to log in that it does not have can only make the login fail; CheckHostIP and UpdateHostKeys only add
// to known_hosts; without NoHostAuthenticationForLocalhost it is stricter. The last lines are names of older
// versions.
constexpr std::array kPassedOver = std::to_array<std::string_view>({"AddKeysToAgent",
                                                                    "BatchMode",
                                                                    "CanonicalDomains",
                                                                    "CanonicalizeFallbackLocal",
                                                                    "CanonicalizeMaxDots",
                                                                    "CanonicalizePermittedCNAMEs",
                                                                    "CASignatureAlgorithms",
                                                                    "ChannelTimeout",
                                                                    "CheckHostIP",
                                                                    "ClearAllForwardings",
                                                                    "Compression",
                                                                    "ControlMaster",
                                                                    "ControlPath",
                                                                    "ControlPersist",
                                                                    "DynamicForward",
                                                                    "EnableEscapeCommandline",
                                                                    "EnableSSHKeysign",
                                                                    "EscapeChar",
                                                                    "ExitOnForwardFailure",
                                                                    "FingerprintHash",
                                                                    "ForkAfterAuthentication",
                                                                    "ForwardAgent",
                                                                    "ForwardX11",
                                                                    "ForwardX11Timeout",
                                                                    "ForwardX11Trusted",
                                                                    "GatewayPorts",
                                                                    "GSSAPIAuthentication",
                                                                    "GSSAPIClientIdentity",
                                                                    "GSSAPIDelegateCredentials",
                                                                    "GSSAPIKexAlgorithms",
                                                                    "GSSAPIKeyExchange",
                                                                    "GSSAPIRenewalForcesRekey",
                                                                    "GSSAPIServerIdentity",
                                                                    "GSSAPITrustDns",
                                                                    "HostbasedAcceptedAlgorithms",
                                                                    "HostbasedAuthentication",
                                                                    "IgnoreUnknown",
                                                                    "IPQoS",
                                                                    "KbdInteractiveAuthentication",
                                                                    "KbdInteractiveDevices",
                                                                    "LocalCommand",
                                                                    "LocalForward",
                                                                    "LogLevel",
                                                                    "LogVerbose",
                                                                    "NoHostAuthenticationForLocalhost",
                                                                    "NumberOfPasswordPrompts",
                                                                    "ObscureKeystrokeTiming",
                                                                    "PasswordAuthentication",
                                                                    "PermitLocalCommand",
                                                                    "PermitRemoteOpen",
                                                                    "PKCS11Provider",
                                                                    "PreferredAuthentications",
                                                                    "PubkeyAcceptedAlgorithms",
                                                                    "RekeyLimit",
                                                                    "RemoteCommand",
                                                                    "RemoteForward",
                                                                    "RequestTTY",
                                                                    "SecurityKeyProvider",
                                                                    "SendEnv",
                                                                    "SessionType",
                                                                    "SetEnv",
                                                                    "StdinNull",
                                                                    "StreamLocalBindMask",
                                                                    "StreamLocalBindUnlink",
                                                                    "SyslogFacility",
                                                                    "Tag",
                                                                    "TCPKeepAlive",
                                                                    "Tunnel",
                                                                    "TunnelDevice",
                                                                    "UpdateHostKeys",
                                                                    "VersionAddendum",
                                                                    "VisualHostKey",
                                                                    "WarnWeakCrypto",
                                                                    "XAuthLocation",
                                                                    "AFSTokenPassing",
                                                                    "ChallengeResponseAuthentication",
                                                                    "Cipher",
                                                                    "CompressionLevel",
                                                                    "DSAAuthentication",
                                                                    "FallBackToRsh",
                                                                    "GlobalKnownHostsFile2",
                                                                    "HostbasedKeyTypes",
                                                                    "KeepAlive",
                                                                    "KerberosAuthentication",
                                                                    "KerberosTGTPassing",
                                                                    "Protocol",
                                                                    "ProtocolKeepAlives",
                                                                    "PubkeyAcceptedKeyTypes",
                                                                    "RhostsAuthentication",
                                                                    "RhostsRSAAuthentication",
                                                                    "RSAAuthentication",
                                                                    "SetupTimeOut",
                                                                    "SkeyAuthentication",
                                                                    "SmartcardDevice",
                                                                    "TISAuthentication",
                                                                    "UseBlacklistedKeys",
                                                                    "UsePrivilegedPort",
                                                                    "UserKnownHostsFile2",
                                                                    "UseRoaming",
                                                                    "UseRsh"});

/// How many letters must be put in, taken out or changed to make one of the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

const UnsupportedKeyword* find_unsupported(std::string_view keyword) {
  const auto found = std::find_if(
      kUnsupported.begin(), kUnsupported.end(),
      [&](const UnsupportedKeyword& candidate) { return lower_case(candidate.name) == lower_case(keyword); });
  return found == kUnsupported.end() ? nullptr : &*found;
}

bool may_be_passed_over(std::string_view keyword) {
  return std::any_of(kPassedOver.begin(), kPassedOver.end(),
                     [&](std::string_view name) { return lower_case(name) == lower_case(keyword); });
}

std::optional<std::string> nearest_keyword(std::string_view keyword,
                                           const std::vector<std::string_view>& others) {
  std::vector<std::string_view> names = others;
  names.insert(names.end(), kPassedOver.begin(), kPassedOver.end());
  for (const UnsupportedKeyword& unsupported : kUnsupported) names.push_back(unsupported.name);
  const std::string slip = lower_case(keyword).substr(0, 100);
  std::string_view nearest;
  std::size_t least = slip.size() / 2 + 1;  // farther away it is something else
  for (const std::string_view name : names) {
    const std::size_t changes = distance(slip, lower_case(name));
    if (changes >= least) continue;
    least = changes;
    nearest = name;
  }
  if (nearest.empty()) return std::nullopt;
  return std::string(nearest);
}

}  // namespace podrun
