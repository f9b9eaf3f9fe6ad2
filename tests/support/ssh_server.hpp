// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "support/child.hpp"
#include "support/run_coroutine.hpp"
#include "support/ssh_keygen.hpp"
#include "support/temp_directory.hpp"

namespace podrun::test {

/// A real sshd on a free port of 127.0.0.1, which lets in the user who runs the tests.
class SshServer {
 public:
  SshServer() {
    if (::geteuid() == 0) ::mkdir("/run/sshd", 0755);  // sshd refuses to run as root without it
    make_key(directory_, "host_key", {"ed25519"});
    make_key(directory_, "authority", {"ed25519"});
    constexpr int kAttempts = 20;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (start()) return;
    }
    throw std::runtime_error("no sshd: " + log());
  }

  std::uint16_t port() const { return port_; }
  /// Its name in the directory of `authorize` and of the authority that it trusts.
  const TempDirectory& directory() const { return directory_; }
  std::string log() const { return directory_.read("log"); }

  /// Lets in who has the key, one line of a .pub file; nobody else by a plain key.
  void authorize(const std::string& line) const { directory_.write("authorized_keys", line); }

 private:
  static std::uint16_t free_port() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no free port");
    }
    ::close(descriptor);
    return ntohs(address.sin_port);
  }

  /// False when another has taken the port in the meantime, or this sshd does not know penalties.
  bool start() {
    port_ = free_port();
    directory_.write("log", "");
    directory_.write("config", fmt::format("ListenAddress 127.0.0.1\n"
                                           "Port {1}\n"
                                           "PidFile {0}/pid\n"
                                           "HostKey {0}/host_key\n"
                                           "AuthorizedKeysFile {0}/authorized_keys\n"
                                           "TrustedUserCAKeys {0}/authority.pub\n"
                                           "AuthenticationMethods publickey\n"
                                           "PermitRootLogin prohibit-password\n"
                                           "StrictModes no\n"
                                           "UsePAM no\n"
                                           "LogLevel DEBUG1\n"
                                           "{2}",
                                           directory_.path(), port_, no_penalties_));
    process_ = std::make_unique<Child>(std::vector<std::string>{
        "/usr/sbin/sshd", "-D", "-f", directory_.path("config"), "-E", directory_.path("log")});
    const auto says = [this](const char* text) { return log().find(text) != std::string::npos; };
    const bool knows = eventually([&] {
      return directory_.has("pid") || says("Cannot bind any address") || says("Bad configuration option");
    });
    if (says("Bad configuration option")) no_penalties_ = "";
    return knows && directory_.has("pid");
  }

  TempDirectory directory_;
  std::uint16_t port_ = 0;
  /// From OpenSSH 9.8 on it turns an address away for a while after failed logins.
  const char* no_penalties_ = "PerSourcePenalties no\n";
  std::unique_ptr<Child> process_;
};

}  // namespace podrun::test
