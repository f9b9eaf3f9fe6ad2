// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/line_text.hpp"

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/shell/scripts.hpp"

namespace podrun::shell {

std::string line_text(std::string_view line, remote::ShellStart shell) {
  return fmt::format("podrun_typed={}; podrun_inside={}; podrun_l={}; {}", shell_quote_in_line(line),
                     shell_quote_in_line(kInsideScript), shell == remote::ShellStart::login ? "-l" : "",
                     kLineScript);
}

std::string host_text(std::string_view restored, std::string_view id) {
  return fmt::format("podrun_kept={}; podrun_id={}; ", shell_quote_in_line(restored), id);
}

}  // namespace podrun::shell
