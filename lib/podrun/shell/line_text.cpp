// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/line_text.hpp"

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"

namespace podrun::shell {

std::string line_text(std::string_view line, remote::ShellStart shell, std::string_view id) {
  return fmt::format("podrun_typed={}; podrun_inside={}; podrun_id={}; podrun_l={}; {}",
                     shell_quote_in_line(line), shell_quote_in_line(kInsideScript), id,
                     shell == remote::ShellStart::login ? "-l" : "", kLineScript);
}

std::string host_text(std::string_view restored) {
  return fmt::format("podrun_kept={}; ", shell_quote_in_line(restored));
}

}  // namespace podrun::shell
