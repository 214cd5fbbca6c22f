// bench-simdjson FOLDER ROUNDS: the texts of bench-json, read by simdjson. Prints one JSON line of the same kind.
//
//     TEXT         decoded to structs by its On-Demand API: fields without a member are skipped, with only their UTF-8
//                  validated
//     TEXT-parse   fully validated by its DOM API, which also converts numbers and strings
//
// The parser is reused and the texts are padded, as simdjson recommends. A URL stays a string.

#include <simdjson.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using simdjson::padded_string;
namespace dom = simdjson::dom;
namespace ondemand = simdjson::ondemand;

// The types to decode, as in bench-json.

struct Person {
  int64_t id, age;
  std::string name, email, city;
  double score;
  bool active;
};

struct Account : Person {
  std::string note;
};

struct Author {
  int64_t id, followers;
  std::string name, handle;
  std::optional<std::string> about, home;
  std::optional<bool> is_verified;
};

struct Tag {
  std::string text;
  std::vector<int64_t> range;
};

struct Entities {
  std::vector<Tag> tags;
  std::optional<std::vector<Tag>> links, media;
};

struct Post {
  int64_t id, likes;
  std::string text;
  std::optional<std::string> language, place;
  std::optional<int64_t> answer_to;
  Author author;
  Entities entities;
  std::optional<bool> is_sensitive;
};

struct Feature {
  std::string name;
  std::vector<std::vector<double>> points;
};

struct Map {
  std::vector<Feature> features;
};

// The decoding functions. They read members in the order of the text, which is fastest for On-Demand.

struct Reader {
  static void read(ondemand::value from, int64_t &into) { into = from.get_int64(); }
  static void read(ondemand::value from, double &into) { into = from.get_double(); }
  static void read(ondemand::value from, bool &into) { into = from.get_bool(); }
  static void read(ondemand::value from, std::string &into) { into = std::string_view(from.get_string()); }

  template <typename Element>
  static void read(ondemand::value from, std::vector<Element> &into) {
    for (auto element : from.get_array()) read(element.value(), into.emplace_back());
  }

  template <typename Wrapped>
  static void read(ondemand::value from, std::optional<Wrapped> &into) {
    if (!from.is_null()) read(from, into.emplace());
  }

  template <typename Member>
  static void member(ondemand::object &from, std::string_view key, Member &into) {
    read(from[key].value(), into);
  }

  template <typename Member>
  static void member(ondemand::object &from, std::string_view key, std::optional<Member> &into) {
    auto found = from[key];
    if (found.error() != simdjson::NO_SUCH_FIELD) read(found.value(), into);
  }

  static void read(ondemand::object &from, Person &into) {
    member(from, "id", into.id);
    member(from, "name", into.name);
    member(from, "email", into.email);
    member(from, "age", into.age);
    member(from, "score", into.score);
    member(from, "active", into.active);
    member(from, "city", into.city);
  }

  static void read(ondemand::value from, Person &into) {
    ondemand::object object = from.get_object();
    read(object, into);
  }

  static void read(ondemand::value from, Account &into) {
    ondemand::object object = from.get_object();
    Person &person = into;
    read(object, person);
    member(object, "note", into.note);
  }

  static void read(ondemand::value from, Author &into) {
    ondemand::object object = from.get_object();
    member(object, "id", into.id);
    member(object, "name", into.name);
    member(object, "handle", into.handle);
    member(object, "about", into.about);
    member(object, "home", into.home);
    member(object, "followers", into.followers);
    member(object, "isVerified", into.is_verified);
  }

  static void read(ondemand::value from, Tag &into) {
    ondemand::object object = from.get_object();
    member(object, "text", into.text);
    member(object, "range", into.range);
  }

  static void read(ondemand::value from, Entities &into) {
    ondemand::object object = from.get_object();
    member(object, "tags", into.tags);
    member(object, "links", into.links);
    member(object, "media", into.media);
  }

  static void read(ondemand::value from, Post &into) {
    ondemand::object object = from.get_object();
    member(object, "id", into.id);
    member(object, "text", into.text);
    member(object, "language", into.language);
    member(object, "answerTo", into.answer_to);
    member(object, "place", into.place);
    member(object, "author", into.author);
    member(object, "entities", into.entities);
    member(object, "likes", into.likes);
    member(object, "isSensitive", into.is_sensitive);
  }

  static void read(ondemand::value from, Feature &into) {
    ondemand::object object = from.get_object();
    member(object, "name", into.name);
    member(object, "points", into.points);
  }

  static void read(ondemand::value from, Map &into) {
    ondemand::object object = from.get_object();
    member(object, "features", into.features);
  }
};

// The measurements.

double cpu_microseconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

struct Measure {
  std::string name;
  size_t times;
  std::function<size_t()> operation;
  double least = std::numeric_limits<double>::infinity();

  // A shorter text is read more often in one round.
  Measure(std::string name, const padded_string &text, std::function<size_t()> operation)
      : name(name), times(std::max<size_t>((1 << 20) / text.size(), 1)), operation(operation) {}

  void run() {
    double begin = cpu_microseconds();
    for (size_t time = 0; time < times; ++time) {
      if (operation() == 0) throw std::runtime_error("nothing was read: " + name);
    }
    least = std::min(least, (cpu_microseconds() - begin) / times);
  }
};

template <typename Value>
Measure typed(std::string name, const padded_string &text, size_t (*size)(const Value &)) {
  static ondemand::parser parser;
  return Measure(name, text, [&text, size] {
    auto document = parser.iterate(text);
    Value value{};
    Reader::read(document.get_value().value(), value);
    return size(value);
  });
}

Measure judged(std::string name, const padded_string &text) {
  static dom::parser parser;
  return Measure(name + "-parse", text, [&text]() -> size_t { return parser.parse(text).error() ? 0 : 1; });
}

void run(const std::string &folder, int rounds) {
  auto load = [&](const char *name) -> padded_string { return padded_string::load(folder + "/" + name + ".json"); };
  padded_string account = load("200b"), people = load("10k"), posts = load("posts"), map = load("map");
  std::vector<Measure> measures = {
      typed<Account>("200b", account, [](const Account &value) { return value.name.size(); }),
      typed<std::vector<Person>>("10k", people, [](const std::vector<Person> &value) { return value.size(); }),
      typed<std::vector<Post>>("posts", posts, [](const std::vector<Post> &value) { return value.size(); }),
      typed<Map>("map", map, [](const Map &value) { return value.features.size(); }),
      judged("200b", account),
      judged("10k", people),
      judged("posts", posts),
      judged("map", map),
  };
  for (int round = 0; round < rounds; ++round) {
    for (Measure &measure : measures) measure.run();
  }
  std::printf("{\"cpu_us\":{");
  for (size_t index = 0; index < measures.size(); ++index) {
    std::printf("%s\"%s\":%.3f", index ? "," : "", measures[index].name.c_str(), measures[index].least);
  }
  std::printf("}}\n");
}

}  // namespace

int main(int argc, char **argv) {
  int rounds = argc == 3 ? std::atoi(argv[2]) : 0;
  if (rounds <= 0) {
    std::fputs("usage: bench-simdjson FOLDER ROUNDS\n", stderr);
    return 64;
  }
  try {
    run(argv[1], rounds);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "bench-simdjson: %s\n", error.what());
    return 1;
  }
}
