// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/secret.hpp"

#include <string.h>  // explicit_bzero
#include <sys/prctl.h>

#include <utility>

namespace podrun {
namespace {

void overwrite(std::string& text) {
  text.resize(text.capacity());
  ::explicit_bzero(text.data(), text.size());
}

}  // namespace

Secret::Secret(std::string&& text) : text_(new std::string(std::move(text))) { overwrite(text); }

void Secret::Wipe::operator()(std::string* text) const {
  overwrite(*text);
  delete text;
}

void hide_memory() { ::prctl(PR_SET_DUMPABLE, 0); }

}  // namespace podrun
