// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace podrun::top {

/// Compares with a file of golden/; with PODRUN_WRITE_GOLDEN=1 in the environment it writes the file.
inline void expect_golden(const std::string& name, const std::vector<std::string>& lines) {
  const std::string path = std::string(PODRUN_GOLDEN) + "/" + name;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (std::getenv("PODRUN_WRITE_GOLDEN")) std::ofstream(path) << text;
  std::ostringstream wanted;
  wanted << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, wanted.str()) << "differs from " << path << " (PODRUN_WRITE_GOLDEN=1 writes it anew)";
}

}  // namespace podrun::top
