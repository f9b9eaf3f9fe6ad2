// SPDX-License-Identifier: Apache-2.0
// Reads host lists, from wherever they come: `-H`, files such as podips.txt, standard input, a command.
#include "podrun/hosts/host_list.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/columns.hpp"
#include "podrun/hosts/foreign_list.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/host_pattern.hpp"
#include "podrun/hosts/host_words.hpp"
#include "podrun/hosts/list_text.hpp"

namespace podrun::hosts {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kInclude = "#include ";
constexpr std::size_t kMaxIncludes = 10;  // one in the other

/// Appends lists and files, up to kMaxHosts hosts in all.
class HostListBuilder {
 public:
  HostListBuilder(const Probe& probe, const ReadDescription& read_description)
      : probe_(probe), read_description_(read_description) {}

  /// For `-x`, where numbers are workers and a host may stand under all its names.
  static HostListBuilder of_exclusions(const Probe& probe) {
    static const ReadDescription kNone;
    HostListBuilder builder(probe, kNone);
    builder.is_of_exclusions_ = true;
    return builder;
  }

  void add_values(const std::vector<std::string>& values, std::string_view where) {
    for (const std::string& value : values) {
      if (value == "-") {
        add_text(probe_.read_standard_input(), "standard input");
      } else {
        add_value(value, where);
      }
    }
  }

  /// A value of an option or a variable, which has no lines to name.
  void add_value(std::string_view list, std::string_view where) {
    list = trim_space(list);
    if (list.empty()) HostEntry{list, where}.refuse("host", "", "at least one");
    refuse_messages(list, where, LinesOf::value);
    Columns columns;
    const bool is_typed = list.find_first_of("\n\t") == npos;
    if (!is_typed) refuse_foreign_list(list, where);
    while (!list.empty()) {
      const std::string_view line = take_part(list, '\n');
      add_line(line, {std::string(where), {}, is_typed ? nullptr : &columns, true, list});
    }
    finish(columns, std::string(where));
  }

  void add_text(const std::string& text, const std::string& path) {
    refuse_messages(text, path, LinesOf::file);
    const std::optional<Description> described =
        read_description_ ? read_description_(text, path) : std::nullopt;
    if (described) list_.notes.insert(list_.notes.end(), described->notes.begin(), described->notes.end());
    list_.has_description |= described && !described->has_names;
    std::string_view rest = described ? described->list : text;
    if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
    const bool is_plain = rest.starts_with(kMadeByPodrun);
    if (!described && !is_plain) refuse_foreign_list(rest, path);
    Columns columns;
    for (std::size_t number = 1; !rest.empty(); ++number) {
      const std::string_view line = take_part(rest, '\n');
      add_line(line,
               {fmt::format("{}:{}", path, number), path, is_plain ? nullptr : &columns, !described, rest});
    }
    if (!described || described->has_names) finish(columns, path);
  }

  void add_file(const std::string& path) {
    const std::optional<std::string> text = probe_.read_file(path);
    if (!text)
      throw UsageError(fmt::format("cannot read {:?}: no such file (expected a list of hosts)", path));
    if (++depth_ > kMaxIncludes)
      throw UsageError(
          fmt::format("cannot read {:?}: more than {} files include each other", path, kMaxIncludes));
    add_text(*text, path);
    --depth_;
  }

  HostList take() {
    refuse_processes_as_ports();
    return std::move(list_);
  }

 private:
  struct Place {
    std::string where;  ///< for messages
    std::string path;   ///< of the file; empty in an option's value
    Columns* columns;   ///< of the text; null for a list that a user types or podrun wrote
    bool may_be_heading;
    std::string_view below;  ///< the lines after it
  };

  /// Whether a program may have printed it as a table.
  bool may_be_table(const Place& place) const { return place.columns && !is_of_exclusions_; }

  void finish(const Columns& columns, const std::string& where) const {
    if (!is_of_exclusions_) columns.finish(where);
  }

  void add_line(std::string_view raw, const Place& place) {
    std::string plain(raw.ends_with('\r') ? raw.substr(0, raw.size() - 1) : raw);
    const bool has_tab = trim_space(plain).find('\t') != npos;
    std::replace(plain.begin(), plain.end(), '\t', ' ');
    refuse_control_characters(plain, place.where);
    if (!place.path.empty() && trim(plain).starts_with(kInclude))
      return include(trim(trim(plain).substr(kInclude.size())), place);
    const std::string text =
        without_blanks_around_equals(trim(std::string_view(plain).substr(0, comment_start(plain))));
    if (may_be_table(place) && place.may_be_heading && place.columns->empty() &&
        is_heading(text, place.below)) {
      list_.notes.push_back(fmt::format("{}: \"{}\" is a heading, not a host", place.where, text));
    } else if (is_of_grid_engine(text)) {
      std::string_view rest = text;
      const std::string_view host = take_word(rest);
      add_entry({host, place.where});
      apply_count(take_word(rest), last_entry(), {text, place.where});
    } else {
      add_words(text, place, has_tab || text.find("  ") != npos);
    }
  }

  /// `is_wide`: has a tab or several blanks between words.
  void add_words(std::string_view text, const Place& place, bool is_wide) {
    const HostEntry line{text, place.where};
    const std::size_t first = list_.hosts.size();
    bool expects_host = false;
    entry_start_ = first;
    if (may_be_table(place) && text.find('|') != npos) refuse_columns(line);
    for (std::string_view rest = text; !(rest = trim(rest)).empty();) {
      const std::string_view word = take_list_word(rest);
      if (word.empty()) line.refuse("host", word, "one before and after each comma");
      if (word.find('=') != npos && !word.starts_with('^')) {
        apply_word(word, last_entry(), line);
      } else if (!expects_host && is_count(word, first)) {
        apply_count(word, last_entry(), line);
      } else {
        add_word(word, place, line);
      }
      rest = trim(rest);
      expects_host = !rest.empty() && is_comma(rest.front());
      if (expects_host) rest.remove_prefix(1);
    }
    const auto hosts = std::span(list_.hosts).subspan(first);
    if (may_be_table(place) && !hosts.empty()) place.columns->add_line(hosts, line, is_wide);
  }

  void add_word(std::string_view word, const Place& place, const HostEntry& line) {
    if (is_quoted(word)) word = word.substr(1, word.size() - 2);
    const HostEntry entry{word, place.where};
    if (may_be_table(place)) refuse_cell(word, line);
    if (is_missing(word))
      entry.refuse("host", word, "a name or an address: a machine without one is not ready");
    if (!word.starts_with('^')) return add_entry(entry);
    if (!place.path.empty())
      entry.refuse("host", word, "-x LIST to leave out hosts, #include FILE to read a file");
    add_file(std::string(word.substr(1)));
  }

  /// Whether a number says how many processes the host before it takes, as LSF and SGE write it.
  bool is_count(std::string_view word, std::size_t first) const {
    return to_number(word) && list_.hosts.size() > first &&
           list_.hosts.back().name.find_first_not_of("0123456789-") != npos;
  }

  void include(std::string_view name, const Place& place) {
    if (is_quoted(name)) name = name.substr(1, name.size() - 2);
    std::string path = (fs::path(place.path).parent_path() / name).string();
    if (path.starts_with("~/")) path = probe_.env("HOME").value_or("") + path.substr(1);
    try {
      add_file(path);
    } catch (const UsageError& error) {
      if (std::string_view(error.what()).starts_with("cannot read"))
        throw UsageError(fmt::format("{}: {}", place.where, error.what()));
      throw;
    }
  }

  static std::size_t comment_start(std::string_view line) {
    std::size_t mark = line.find('#');
    while (mark != npos && mark != 0 && line[mark - 1] != ' ') mark = line.find('#', mark + 1);
    return mark;
  }

  void add_entry(const HostEntry& entry) {
    const HostPattern pattern(entry);
    if (pattern.size() > kMaxHosts - list_.hosts.size()) entry.refuse_more();
    entry_start_ = list_.hosts.size();
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      list_.hosts.push_back(parse_host(pattern.at(i), entry));
      list_.hosts.back().worker = list_.hosts.size() - 1;
    }
    const Host& host = list_.hosts.back();
    if (host.port != 0) ports_.push_back({host.port, std::string(entry.text), std::string(entry.where)});
  }

  /// The hosts of the entry before a word.
  std::span<Host> last_entry() { return std::span(list_.hosts).subspan(entry_start_); }

  /// `node1:8` is a port here, and eight processes for MPICH, Intel MPI and Horovod.
  void refuse_processes_as_ports() const {
    constexpr std::uint16_t kMostProcesses = 128;
    const auto may_be_processes = [](const WrittenPort& each) {
      return each.port <= kMostProcesses && each.port != kSshPort;
    };
    if (ports_.empty() || !std::all_of(ports_.begin(), ports_.end(), may_be_processes)) return;
    const WrittenPort& first = ports_.front();
    const std::string name = first.text.substr(0, first.text.rfind(':'));
    throw UsageError(
        fmt::format("{0}: {1:?} can be port {2}, or {2} processes as for mpiexec (for processes write "
                    "\"{3} slots={2}\", for the port \"{3} port={2}\")",
                    first.where, first.text, first.port, name));
  }

  /// A port after a colon, and the entry that has it.
  struct WrittenPort {
    std::uint16_t port;
    std::string text;
    std::string where;
  };

  const Probe& probe_;
  const ReadDescription& read_description_;
  HostList list_;
  std::size_t entry_start_ = 0;  ///< of the last entry, among the hosts
  std::vector<WrittenPort> ports_;
  std::size_t depth_ = 0;
  bool is_of_exclusions_ = false;
};

}  // namespace

HostList parse_host_list(const std::vector<std::string>& values, std::string_view where, const Probe& probe,
                         const ReadDescription& read_description) {
  HostListBuilder builder(probe, read_description);
  builder.add_values(values, where);
  return builder.take();
}

std::vector<Host> parse_exclusions(const std::vector<std::string>& values, std::string_view where,
                                   const Probe& probe) {
  HostListBuilder builder = HostListBuilder::of_exclusions(probe);
  builder.add_values(values, where);
  return builder.take().hosts;
}

HostList parse_hosts_file(const std::string& text, const std::string& path, const Probe& probe,
                          const ReadDescription& read_description) {
  HostListBuilder builder(probe, read_description);
  builder.add_text(text, path);
  return builder.take();
}

HostList read_hosts_file(const std::string& path, const Probe& probe,
                         const ReadDescription& read_description) {
  HostListBuilder builder(probe, read_description);
  builder.add_file(path);
  return builder.take();
}

}  // namespace podrun::hosts
