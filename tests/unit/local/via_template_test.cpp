// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/local/connectors.hpp"

#include "support/usage_error.hpp"

namespace podrun::local {
namespace {

using Texts = std::vector<std::string>;

const hosts::Host kHost{.worker = 7, .name = "tpu-7", .user = "", .source = "podips.txt:8"};
const hosts::Host kFullHost{.worker = 3, .name = "fe80::1", .user = "ann", .port = 2222, .source = "-H"};

Texts words(const std::string& text, const hosts::Host& host) { return ViaTemplate(text).words_for(host); }
std::string error_of(const std::string& text, const hosts::Host& host = kHost) {
  return usage_error([&] { words(text, host); });
}

TEST(ViaTemplate, FillsInThePlaceholders) {
  EXPECT_EQ(words("ssh {host}", kHost), (Texts{"ssh", "tpu-7"}));
  EXPECT_EQ(words("ssh -p {port} {user}@{host}", kFullHost), (Texts{"ssh", "-p", "2222", "ann@fe80::1"}));
  EXPECT_EQ(words("docker exec -i node-{worker}", kHost), (Texts{"docker", "exec", "-i", "node-7"}));
  EXPECT_EQ(words("{host}{worker}x{host}", kHost), Texts{"tpu-77xtpu-7"});
  EXPECT_EQ(words("pod-{rank}", kHost), Texts{"pod-7"}) << "another name of {worker}";
}

TEST(ViaTemplate, TakesPort22ForNone) {
  EXPECT_EQ(words("ssh -p {port} {host}", kHost), (Texts{"ssh", "-p", "22", "tpu-7"}));
}

TEST(ViaTemplate, SplitsByShellQuoting) {
  EXPECT_EQ(words("ssh -o 'ProxyCommand nc %h %p' \"{host}\" a\\ b ''", kHost),
            (Texts{"ssh", "-o", "ProxyCommand nc %h %p", "tpu-7", "a b", ""}));
}

TEST(ViaTemplate, FillsInTextThatIsNoTemplateAgain) {
  const hosts::Host host{.worker = 0, .name = "{worker} x", .user = "", .source = "-H"};
  EXPECT_EQ(words("x {host}", host), (Texts{"x", "{worker} x"}));
}

TEST(ViaTemplate, LeavesAnOpenBraceAlone) {
  EXPECT_EQ(words("x {host} a{ }b", kHost), (Texts{"x", "tpu-7", "a{", "}b"}));
}

TEST(ViaTemplate, RefusesTextWithoutAHost) {
  for (const char* text : {"", "  ", "ssh", "ssh {user}", "ssh -p {port}"}) {
    EXPECT_EQ(
        error_of(text),
        fmt::format("--via: \"{}\" does not say where the host goes (write {{host}}, as in 'ssh {{host}}')",
                    text));
  }
}

TEST(ViaTemplate, RefusesUnknownPlaceholders) {
  for (const char* name : {"hots", "", "HOST", "host "}) {
    EXPECT_EQ(error_of(fmt::format("ssh '{{{}}}' {{host}}", name)),
              fmt::format("--via: unknown placeholder \"{{{}}}\" (there are {{host}}, {{user}}, {{port}} and "
                          "{{worker}})",
                          name));
  }
}

TEST(ViaTemplate, RefusesWhatAShellWouldActOn) {
  EXPECT_EQ(error_of("ssh 'x {host}"),
            "--via: \"ssh 'x {host}\": a single quote is not closed (add the second one)");
  EXPECT_EQ(error_of("ssh {host} | cat"),
            "--via: \"ssh {host} | cat\": unquoted \"|\" (nothing is expanded here; to mean it literally put "
            "it in single quotes)");
}

TEST(ViaTemplate, RefusesAHostThatSaysMoreThanItTakes) {
  EXPECT_EQ(error_of("ssh -p {port} {host}", kFullHost),
            "-H: \"fe80::1\" comes with a user, but --via \"ssh -p {port} {host}\" has no {user}");
  EXPECT_EQ(error_of("ssh {user}@{host}", kFullHost),
            "-H: \"fe80::1\" comes with a port, but --via \"ssh {user}@{host}\" has no {port}");
  EXPECT_EQ(error_of("ssh {host}", kFullHost),
            "-H: \"fe80::1\" comes with a user, but --via \"ssh {host}\" has no {user}");
}

TEST(ViaTemplate, RefusesAHostWithoutTheUserItTakes) {
  EXPECT_EQ(error_of("ssh {user}@{host}"),
            "podips.txt:8: \"tpu-7\" has no user for the {user} of --via (write user@tpu-7)");
}

}  // namespace
}  // namespace podrun::local
