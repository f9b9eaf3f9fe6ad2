// SPDX-License-Identifier: Apache-2.0
// Keeps the user and password of a URL out of command lines, files and messages.
#include "podrun/transfer/git_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

namespace podrun::transfer {
namespace {

/// The helper that git asks for user and password. git also runs it to `store` or `erase` them, and ignores
/// what it prints then.
constexpr std::string_view kCredentials =
    R"(!printf "username=%s\npassword=%s\n" "$PODRUN_GIT_USER" "$PODRUN_GIT_PASSWORD"; :)";

/// The parts of `https://user:password@host:1/path?query`; no host: not a URL with one.
struct UrlParts {
  std::string_view scheme;  ///< with "://"
  std::string_view login;
  std::string_view host;
  std::string_view rest;
};

UrlParts parts_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == url.npos) return {};
  UrlParts parts;
  parts.scheme = url.substr(0, scheme + 3);
  url.remove_prefix(parts.scheme.size());
  const std::size_t end = std::min(url.find_first_of("/?#"), url.size());
  parts.rest = url.substr(end);
  url = url.substr(0, end);
  if (const std::size_t at = url.rfind('@'); at != url.npos) {
    parts.login = url.substr(0, at);
    url.remove_prefix(at + 1);
  }
  parts.host = url;
  return parts;
}

/// Replaces `%41` by `A`.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      decoded += static_cast<char>(value);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

}  // namespace

GitAddress make_git_address(const std::string& url, std::string_view where) {
  const UrlParts parts = parts_of(url);
  const std::string scheme = lower_case(parts.scheme);
  if (parts.login.empty() || (scheme != "https://" && scheme != "http://")) return {url};
  const std::string server = fmt::format("{}{}", scheme, parts.host);
  const std::size_t colon = std::min(parts.login.find(':'), parts.login.size());
  const std::string user = percent_decoded(parts.login.substr(0, colon));
  const std::string password = percent_decoded(parts.login.substr(std::min(colon + 1, parts.login.size())));
  if (std::any_of(user.begin(), user.end(), is_control) ||
      std::any_of(password.begin(), password.end(), is_control))
    throw UsageError(fmt::format("{}: the user or password in the url has a control character", where));
  GitAddress address{server + std::string(parts.rest)};
  const std::string helper = fmt::format("credential.{}.helper=", server);
  address.variables = {"PODRUN_GIT_USER=" + user, "PODRUN_GIT_PASSWORD=" + password};
  if (colon < parts.login.size()) {
    address.options = {"-c", helper};  // no helper of the user gives or stores another login
  } else {
    // The user's own helpers may know the password.
    address.configuration.push_back({fmt::format("credential.{}.username", server), user});
  }
  address.options.insert(address.options.end(), {"-c", helper + std::string(kCredentials)});
  return address;
}

std::string shown_url(const std::string& url) {
  const UrlParts parts = parts_of(url);
  if (parts.scheme.empty()) return url;
  return fmt::format("{}{}{}", parts.scheme, parts.host,
                     parts.rest.substr(0, parts.rest.find_first_of("?#")));
}

}  // namespace podrun::transfer
