// SPDX-License-Identifier: Apache-2.0
// Judges a host's key by known_hosts files, which are indexed: they may have 100,000 lines, also hashed ones.
#include "podrun/ssh/host_keys/known_hosts.hpp"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/ssh/config/pattern.hpp"

namespace podrun::ssh {
namespace {

/// Calls `visit(line, newline)` for each line; `newline` is empty if the last line has none.
template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view newline = text.substr(end, 1);
    visit(text.substr(0, end), newline);
    text.remove_prefix(end + newline.size());
  }
}

template <typename Visit>
void for_each_name(std::string_view names, Visit visit) {
  while (!names.empty()) {
    const std::string_view name = take_part(names, ',');
    if (!name.empty()) visit(name);
  }
}

bool acts_in_a_pattern(char c) { return c == '*' || c == '?' || c == '!'; }

/// Whether a file would read it back as this one name, unlike an alias of several words.
bool is_plain_name(std::string_view name) {
  const auto special = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 0x7f || c == ',' || acts_in_a_pattern(c);
  };
  return !name.empty() && std::none_of(name.begin(), name.end(), special) && name.front() != '#' &&
         name.front() != '@' && name.front() != '|';
}

/// Removes names from those of a line. None if the line has no such name; empty if no
/// name or only exceptions (`!name`) remain.
std::optional<std::string> without(const KnownHostsLine& line, const std::unordered_set<std::string>& names,
                                   NameHasher& hasher) {
  if (line.hashed) {
    const auto is_it = [&](const std::string& name) { return hasher.matches(*line.hashed, name); };
    if (std::none_of(names.begin(), names.end(), is_it)) return std::nullopt;
    return "";
  }
  std::string kept;
  bool found = false;
  bool named = false;
  for_each_name(line.names, [&](std::string_view name) {
    if (names.contains(lower_case(name))) {
      found = true;
      return;
    }
    // In a list this does not name a host. As the first name it would turn the rest into a hashed line.
    if (kept.empty() && name.starts_with('|')) return;
    if (!kept.empty()) kept += ',';
    kept += name;
    named = named || !name.starts_with('!');
  });
  if (!found) return std::nullopt;
  return named ? kept : "";
}

}  // namespace

KnownHostsFile::KnownHostsFile(std::string text, std::string path) : path_(std::move(path)) {
  texts_.push_back(std::move(text));
  const std::string_view lines = texts_.back();
  const auto count = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  entries_.reserve(count);
  plain_.reserve(count);
  add_lines(lines);
}

void KnownHostsFile::add_lines(std::string_view text) {
  for_each_line(text, [this](std::string_view line, std::string_view) {
    ++lines_;
    const KnownHostsLine parsed = parse_known_hosts_line(line);
    if (parsed.kind == LineKind::bad) ++bad_lines_;
    if (parsed.kind != LineKind::bad && parsed.kind != LineKind::nothing) add_key(parsed);
  });
}

void KnownHostsFile::add_key(const KnownHostsLine& line) {
  if (line.kind == LineKind::key && line.hashed) {
    hashed_by_key_.emplace(line.key, static_cast<Index>(hashed_.size()));
    hashed_.push_back({*line.hashed, {line.key, lines_}});
    return;
  }
  const auto entry = static_cast<Index>(entries_.size());
  entries_.push_back({line.key, lines_});
  if (line.kind == LineKind::revoked) {
    revoked_.emplace(line.key, NamedEntry{line.names, entry});
  } else if (line.kind == LineKind::cert_authority) {
    authorities_.push_back({line.names, entry});
  } else if (std::any_of(line.names.begin(), line.names.end(), acts_in_a_pattern)) {
    patterns_.push_back({in_lower_case(line.names), entry});
  } else {
    for_each_name(in_lower_case(line.names), [&](std::string_view name) { plain_.emplace(name, entry); });
  }
}

std::string_view KnownHostsFile::in_lower_case(std::string_view names) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (std::none_of(names.begin(), names.end(), is_upper)) return names;
  return texts_.emplace_back(lower_case(names));
}

KnownKey KnownHostsFile::known_key(const Entry& entry) const {
  return {path_, entry.line, read_host_key(entry.key).value()};
}

std::optional<KnownKey> KnownHostsFile::find(const std::string& name, const HostKey& key) const {
  const std::string text = to_base64(key.blob);
  const auto [plain, plain_end] = plain_.equal_range(name);
  for (auto named = plain; named != plain_end; ++named) {
    if (entries_[named->second].key == text) return known_key(entries_[named->second]);
  }
  for (const NamedEntry& pattern : patterns_) {
    if (entries_[pattern.entry].key == text && matches_pattern_list(name, pattern.names)) {
      return known_key(entries_[pattern.entry]);
    }
  }
  const auto [hashed, hashed_end] = hashed_by_key_.equal_range(text);
  for (auto place = hashed; place != hashed_end; ++place) {
    const HashedEntry& candidate = hashed_[place->second];
    if (hasher_.matches(candidate.name, name)) return known_key(candidate.entry);
  }
  return std::nullopt;
}

std::optional<KnownKey> KnownHostsFile::find_revoked(const std::string& name, const HostKey& key) const {
  const auto [revoked, end] = revoked_.equal_range(to_base64(key.blob));
  for (auto candidate = revoked; candidate != end; ++candidate) {
    const auto& [names, entry] = candidate->second;
    if (names_match(names, name, hasher_)) return known_key(entries_[entry]);
  }
  return std::nullopt;
}

std::optional<KnownKey> KnownHostsFile::find_authority(const std::string& name) const {
  for (const NamedEntry& authority : authorities_) {
    if (names_match(authority.names, name, hasher_)) return known_key(entries_[authority.entry]);
  }
  return std::nullopt;
}

std::vector<KnownKey> KnownHostsFile::plain_keys_of(const std::string& name) const {
  std::vector<Index> entries;
  const auto [plain, end] = plain_.equal_range(name);
  for (auto named = plain; named != end; ++named) entries.push_back(named->second);
  for (const NamedEntry& pattern : patterns_) {
    if (matches_pattern_list(name, pattern.names)) entries.push_back(pattern.entry);
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());  // a line may repeat a name
  std::vector<KnownKey> keys;
  for (const Index entry : entries) keys.push_back(known_key(entries_[entry]));
  return keys;
}

std::vector<KnownKey> KnownHostsFile::hashed_keys_of(const std::string& name) const {
  if (hashed_.empty()) return {};
  NameHasher hasher;  // the member belongs to the main thread
  std::vector<KnownKey> keys;
  for (const HashedEntry& hashed : hashed_) {
    if (hasher.matches(hashed.name, name)) keys.push_back(known_key(hashed.entry));
  }
  return keys;
}

std::string KnownHostsFile::add(const std::string& name, const HostKey& key, NameForm form) {
  const std::string& base64 = texts_.emplace_back(to_base64(key.blob));
  plain_.emplace(texts_.emplace_back(lower_case(name)), static_cast<Index>(entries_.size()));
  entries_.push_back({base64, ++lines_});
  const bool hashed = form == NameForm::hashed || !is_plain_name(name);
  return fmt::format("{} {} {}\n", hashed ? hasher_.hashed(name) : name, key.type, base64);
}

void HashedSearch::run() {
  running_.call("HashedSearch::run() is called once");
  for (const auto& file : files_) {
    for (KnownKey& key : file->hashed_keys_of(name_)) keys_.push_back(std::move(key));
  }
}

std::optional<KnownKey> KnownHosts::find(const std::string& name, const HostKey& key) const {
  for (const auto& file : files_) {
    if (auto known = file->find(name, key)) return known;
  }
  return std::nullopt;
}

template <typename Find>
std::optional<KnownKey> KnownHosts::find_under_both_names(std::string_view host, std::uint16_t port,
                                                          Find find) const {
  for (const auto& file : files_) {
    for (const std::uint16_t candidate : {port, hosts::kSshPort}) {
      if (auto found = find(*file, known_hosts_name(host, candidate))) return found;
    }
  }
  return std::nullopt;
}

std::optional<KnownKey> KnownHosts::find_authority(std::string_view host, std::uint16_t port) const {
  return find_under_both_names(host, port, std::mem_fn(&KnownHostsFile::find_authority));
}

std::vector<KnownKey> KnownHosts::plain_keys_of(const std::string& name) const {
  std::vector<KnownKey> keys;
  for (const auto& file : files_) {
    for (KnownKey& key : file->plain_keys_of(name)) keys.push_back(std::move(key));
  }
  return keys;
}

KeyCheck KnownHosts::check(std::string_view host, std::uint16_t port, const HostKey& key,
                           const HashedSearch* search) const {
  const std::string name = known_hosts_name(host, port);
  const auto find_revoked = [&](const KnownHostsFile& file, const std::string& candidate) {
    return file.find_revoked(candidate, key);
  };
  if (auto revoked = find_under_both_names(host, port, find_revoked))
    return {KeyVerdict::revoked, std::move(revoked)};
  if (auto known = find(name, key)) return {KeyVerdict::known, std::move(known)};

  KeyCheck other_type{KeyVerdict::other_type};
  const auto find_other_of_its_type = [&](const std::vector<KnownKey>& stored) -> const KnownKey* {
    for (const KnownKey& known : stored) {
      if (known.key.type == key.type) return &known;
      other_type.other_types.push_back(known.key.type);
      if (!other_type.entry) other_type.entry = known;
    }
    return nullptr;
  };
  const std::vector<KnownKey> plain = plain_keys_of(name);
  if (const KnownKey* const other = find_other_of_its_type(plain)) return {KeyVerdict::changed, *other};
  HashedSearch own(files_, name);
  if (!search) own.run();
  if (const KnownKey* const other = find_other_of_its_type((search ? *search : own).keys()))
    return {KeyVerdict::changed, *other};
  if (other_type.entry) return other_type;
  if (auto known = find(known_hosts_name(host, hosts::kSshPort), key))
    return {KeyVerdict::known, std::move(known)};
  return {};
}

std::shared_ptr<HashedSearch> KnownHosts::search_for(std::string_view host, std::uint16_t port,
                                                     const HostKey& key) const {
  constexpr std::size_t kFew = 1000;  // below this, another thread would cost as much time
  std::size_t lines = 0;
  for (const auto& file : files_) lines += file->hashed_lines();
  const HashedSearch nothing({}, "");
  const KeyVerdict verdict = lines > kFew ? check(host, port, key, &nothing).verdict : KeyVerdict::known;
  if (verdict != KeyVerdict::unknown && verdict != KeyVerdict::other_type) return nullptr;
  return std::make_shared<HashedSearch>(files_, known_hosts_name(host, port));
}

std::vector<std::string> KnownHosts::known_types(std::string_view host, std::uint16_t port) const {
  std::vector<std::string> types;
  for (const std::uint16_t candidate : {port, hosts::kSshPort}) {
    if (!types.empty()) break;
    for (KnownKey& stored : plain_keys_of(known_hosts_name(host, candidate))) {
      types.push_back(std::move(stored.key.type));
    }
  }
  return types;
}

ForgottenKeys forget_keys(std::string_view text,
                          const std::vector<std::pair<std::string, std::uint16_t>>& hosts) {
  std::unordered_set<std::string> names;
  for (const auto& [host, port] : hosts) names.insert(known_hosts_name(host, port));
  NameHasher hasher;
  ForgottenKeys result;
  for_each_line(text, [&](std::string_view line, std::string_view newline) {
    const KnownHostsLine parsed = parse_known_hosts_line(line);
    const auto kept = parsed.kind == LineKind::key ? without(parsed, names, hasher) : std::nullopt;
    if (kept) ++result.removed;
    if (kept && kept->empty()) return;
    if (kept) {
      const auto start = static_cast<std::size_t>(parsed.names.data() - line.data());
      result.text.append(line.substr(0, start))
          .append(*kept)
          .append(line.substr(start + parsed.names.size()));
    } else {
      result.text += line;
    }
    result.text += newline;
  });
  return result;
}

}  // namespace podrun::ssh
