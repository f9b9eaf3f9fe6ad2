// SPDX-License-Identifier: Apache-2.0
// Compiles shapes to the ops that Shapes runs. The text before a place is compiled backwards.

#include <algorithm>
#include <stdexcept>

#include "podrun/output/log_key/log_text.hpp"
#include "podrun/output/log_key/shapes.hpp"

namespace podrun::output {
namespace {

constexpr std::uint16_t kLongest = 1024;  ///< bytes that `*` and `+` repeat

/// The end of the atom at `at`, without its quantifier.
std::size_t atom_end(std::string_view text, std::size_t at) {
  constexpr std::string_view kPrefixes = "~!&";
  if (kPrefixes.find(text[at]) != kPrefixes.npos && text.substr(at + 1).starts_with('(')) ++at;
  if (text[at] == '\\') return at + 2;
  if (text[at] == '{') return text.find('}', at) + 1;
  if (text[at] == '[') {
    for (at += text[at + 1] == '^' ? 2 : 1; text[at] != ']'; ++at) at += text[at] == '\\' ? 1 : 0;
    return at + 1;
  }
  if (text[at] != '(' && text[at] != '<') return at + 1;
  const char close = text[at] == '(' ? ')' : '>';
  for (++at; at < text.size() && text[at] != close;) at = atom_end(text, at);
  if (at >= text.size()) throw std::logic_error("shape without its end: " + std::string(text));
  return at + 1;
}

std::vector<std::string_view> alternatives(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); at = atom_end(text, at)) {
    if (text[at] != '|') continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::uint16_t two_digits(std::string_view text) {
  return static_cast<std::uint16_t>((text[0] - '0') * 10 + text[1] - '0');
}

/// `{00-23}`
bool is_range(std::string_view text) {
  return text.size() >= 7 && text[0] == '{' && text[3] == '-' && text[6] == '}';
}

struct Times {
  std::uint16_t min = 1;
  std::uint16_t max = 1;
  std::size_t size = 0;  ///< in the text
};

Times times_at(std::string_view text) {
  if (text.starts_with('?')) return {0, 1, 1};
  if (text.starts_with('*')) return {0, kLongest, 1};
  if (text.starts_with('+')) return {1, kLongest, 1};
  if (text.size() < 2 || text[0] != '{' || !is_digit(text[1]) || is_range(text)) return {};
  const std::string count(text.substr(1, text.find('}') - 1));
  const std::size_t comma = count.find(',');
  const int min = std::stoi(count);
  const int max = comma == count.npos         ? min
                  : comma + 1 == count.size() ? kLongest
                                              : std::stoi(count.substr(comma + 1));
  return {static_cast<std::uint16_t>(min), static_cast<std::uint16_t>(max), count.size() + 2};
}

char unescaped(char c) { return c == 't' ? '\t' : c == 'e' ? '\x1b' : c; }

bool is_class(char c) { return c == 'd' || c == 'w' || c == 'a' || c == 'h'; }

/// A byte, `\d`, `.` or `[^a-z]`, and no other atom.
bool is_set(std::string_view atom) {
  return atom[0] == '[' || (atom[0] == '\\' && atom[1] != 'b') ||
         (atom.size() == 1 && atom != "^" && atom != "$" && atom != "@");
}

void add_class(ByteSet& set, char name) {
  for (std::size_t byte = 0; byte < set.size(); ++byte) {
    const char c = static_cast<char>(byte);
    if ((name == 'd' && is_digit(c)) || (name == 'w' && is_word(c)) || (name == 'a' && is_letter(c)) ||
        (name == 'h' && is_hex_digit(c)))
      set.set(byte);
  }
}

ByteSet set_of(std::string_view atom) {
  ByteSet set;
  if (atom == ".") return set.set();
  const bool is_list = atom[0] == '[';
  const bool negated = is_list && atom[1] == '^';
  if (is_list) atom = atom.substr(negated ? 2 : 1, atom.size() - (negated ? 3 : 2));
  for (std::size_t at = 0; at < atom.size(); ++at) {
    if (atom[at] == '\\' && is_class(atom[at + 1])) {
      add_class(set, atom[++at]);
      continue;
    }
    const char first = atom[at] == '\\' ? unescaped(atom[++at]) : atom[at];
    const bool is_span = at + 2 < atom.size() && atom[at + 1] == '-';
    const char last = is_span ? atom[at += 2] : first;
    for (unsigned byte = static_cast<unsigned char>(first); byte <= static_cast<unsigned char>(last); ++byte)
      set.set(byte);
  }
  return negated ? ~set : set;
}

std::string other_case(std::string_view atom) {
  std::string other(atom);
  if (other.size() == 1 && is_lower(other[0])) other[0] = static_cast<char>(other[0] - 'a' + 'A');
  return other;
}

}  // namespace

class ShapeCompiler {
 public:
  using Op = ShapeOp;

  ShapeCompiler(ShapeProgram& out, std::span<const Piece> pieces, bool backwards)
      : out_(out), pieces_(pieces), backwards_(backwards) {}

  std::size_t compile(std::string_view shape) {
    const std::size_t begin = out_.ops.size();
    any_of(shape);
    add({Op::done});
    for (std::size_t op = begin; op < out_.ops.size(); ++op) look_ahead(op);
    return begin;
  }

 private:
  /// Notes which bytes decide how to go on at this op, so that few need another try.
  void look_ahead(std::size_t op) {
    Op& now = out_.ops[op];
    if (now.code == Op::set) now.value = (first_bytes(op + 1) & out_.sets[now.to]).none() ? 1 : 0;
    if (now.code == Op::word) now.to = add_set(set_of("[^a-zA-Z0-9_]") | set_of("m"));  // it may end a colour
    if (now.code == Op::own) now.to = add_set(set_of("[a-zA-Z0-9_.:-]"));
    if (now.code != Op::split && now.code != Op::unless && now.code != Op::ahead) return;
    now.min = add_set(first_bytes(op + 1));
    now.max = add_set(first_bytes(now.to));
  }

  /// All bytes, if the shape may end here.
  ByteSet first_bytes(std::size_t op) const {
    const Op& now = out_.ops[op];
    switch (now.code) {
      case Op::one:
        return out_.sets[now.to];
      case Op::range:
        return set_of("\\d");
      case Op::set:
        return now.min == 0 ? out_.sets[now.to] | first_bytes(op + 1) : out_.sets[now.to];
      case Op::split:
        return first_bytes(op + 1) | first_bytes(now.to);
      case Op::jump:
      case Op::unless:
      case Op::ahead:
        return first_bytes(now.to);
      case Op::start:
      case Op::end:
        return {};
      case Op::own:
      case Op::done:
        return ByteSet().set();
      default:
        return first_bytes(op + 1);
    }
  }

  std::uint16_t add_set(const ByteSet& set) {
    const auto known = std::find(out_.sets.begin(), out_.sets.end(), set);
    const auto index = static_cast<std::uint16_t>(known - out_.sets.begin());
    if (known == out_.sets.end()) out_.sets.push_back(set);
    return index;
  }

  std::size_t add(Op op) {
    out_.ops.push_back(op);
    return out_.ops.size() - 1;
  }
  void go_to(std::size_t op) { out_.ops[op].to = static_cast<std::uint16_t>(out_.ops.size()); }

  void any_of(std::string_view text) {
    const std::vector<std::string_view> parts = alternatives(text);
    std::vector<std::size_t> jumps;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const std::size_t split = add({Op::split});
      sequence(parts[i]);
      jumps.push_back(add({Op::jump}));
      go_to(split);
    }
    sequence(parts.back());
    for (const std::size_t jump : jumps) go_to(jump);
  }

  void sequence(std::string_view text) {
    std::vector<std::string_view> atoms;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = atom_end(text, at);
      atoms.push_back(text.substr(at, end + times_at(text.substr(end)).size - at));
      at += atoms.back().size();
    }
    if (backwards_) std::reverse(atoms.begin(), atoms.end());
    for (const std::string_view atom : atoms) {
      const std::size_t end = atom_end(atom, 0);
      quantified(atom.substr(0, end), times_at(atom.substr(end)));
    }
  }

  void quantified(std::string_view atom, Times times) {
    if (is_set(atom)) {
      ByteSet set = set_of(atom);
      if (any_case_) set |= set_of(other_case(atom));
      const bool is_one = times.min == 1 && times.max == 1;
      add({is_one ? Op::one : Op::set, 0, times.min, times.max, add_set(set)});
      return;
    }
    if (times.max > 1) throw std::logic_error("shape repeats a group: " + std::string(atom));
    const std::size_t split = times.min == 0 ? add({Op::split}) : 0;
    one(atom);
    if (times.min == 0) go_to(split);
  }

  /// An atom that is not a set.
  void one(std::string_view atom) {
    const std::size_t last = atom.size() - 1;
    switch (atom[0]) {
      case '(':
        return any_of(atom.substr(1, last - 1));
      case '~':
        any_case_ = true;
        any_of(atom.substr(2, last - 2));
        any_case_ = false;
        return;
      case '!':
      case '&': {
        const std::size_t look = add({atom[0] == '!' ? Op::unless : Op::ahead});
        any_of(atom.substr(2, last - 2));
        add({Op::done});
        return go_to(look);
      }
      case '{':
        if (!is_range(atom)) return any_of(piece(atom.substr(1, last - 1)));
        add({Op::range, 0, two_digits(atom.substr(1)), two_digits(atom.substr(4))});
        return;
      case '<':
        add({Op::open, atom[1]});
        any_of(atom.substr(3, last - 3));
        add({Op::close, atom[1]});
        return;
      default:
        add({atom == "^" ? Op::start : atom == "$" ? Op::end : atom == "@" ? Op::own : Op::word});
    }
  }

  std::string_view piece(std::string_view name) const {
    const auto found = std::find_if(pieces_.begin(), pieces_.end(),
                                    [&](const Piece& candidate) { return candidate.name == name; });
    if (found == pieces_.end()) throw std::logic_error("shape has no piece " + std::string(name));
    return found->shape;
  }

  ShapeProgram& out_;
  std::span<const Piece> pieces_;
  bool backwards_;
  bool any_case_ = false;
};

Shapes::Shapes(std::span<const Piece> pieces, std::vector<Row> rows, std::vector<std::uint64_t> choices)
    : rows_(std::move(rows)), choices_(std::move(choices)) {
  if (rows_.size() > 64) throw std::logic_error("too many rows of shapes");
  for (const Row& row : rows_) {
    std::size_t place = 0;
    while (row.where != Row::start && row.shape[place] != '<') place = atom_end(row.shape, place);
    before_.push_back(ShapeCompiler(program_, pieces, true).compile(row.shape.substr(0, place)));
    after_.push_back(ShapeCompiler(program_, pieces, false).compile(row.shape.substr(place)));
  }
  index_.emplace_back(program_, before_, choices_);
  index_.emplace_back(program_, after_, choices_);
}

}  // namespace podrun::output
