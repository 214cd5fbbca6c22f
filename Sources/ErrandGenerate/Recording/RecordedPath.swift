/// A path in which the segments that identify something are variables.
struct RecordedPath {
  /// The kinds of segments that are variables.
  enum Variable: Equatable {
    case number, uuid, day, text

    /// The kind of a segment; nil for a literal one.
    init?(_ segment: some StringProtocol) {
      let bytes = Array(segment.utf8)
      let digits = bytes.count(where: ScalarRules.isDigit)
      let capitals = bytes.count { (0x41...0x5A).contains($0) }
      let small = bytes.count { (0x61...0x7A).contains($0) }
      let isHex = bytes.allSatisfy { ScalarRules.hex([$0]) != nil }
      let hasSigns = digits + capitals + small < bytes.count
      if digits == bytes.count, digits > 0 {
        // A number would lose zeros at its beginning.
        self = digits < 19 && ScalarRules.isJSONNumber(String(segment)) ? .number : .text
      } else if SampleText.isUUID(bytes) {
        self = .uuid
      } else if SampleText.isDay(bytes) {
        self = .day
      } else if isHex, bytes.count >= 8, digits > 0 {
        self = .text
      } else if digits >= 2, capitals + small >= 2, bytes.count >= 10, !hasSigns {
        self = .text
      } else if digits > 0, capitals > 0, small > 0, bytes.count >= 8 {
        self = .text
      } else if bytes.count > 40 || bytes.contains(where: { "@%{};=".utf8.contains($0) }) {
        self = .text
      } else {
        return nil
      }
    }

    var schema: DocumentNode {
      switch self {
      case .number: ["type": "integer"]
      case .uuid: ["type": "string", "format": "uuid"]
      case .day: ["type": "string", "format": "date"]
      case .text: ["type": "string"]
      }
    }
  }

  /// The path with names in braces, such as `/users/{user_id}`.
  let template: String
  let variables: [(name: String, kind: Variable)]

  init(_ path: String) {
    var segments: [String] = []
    var variables: [(name: String, kind: Variable)] = []
    var counts: [String: Int] = [:]
    var last = ""
    for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
      // The variable may be before an extension, as in `7.json`.
      let stem = segment.prefix { $0 != "." }
      let ending = segment.dropFirst(stem.count)
      let isEnding = ending.isEmpty || (ending.utf8.count <= 6 && ending.dropFirst().allSatisfy(\.isLetter))
      let whole = Variable(segment)
      let before = whole == nil && isEnding ? Variable(stem) : nil
      let other = SampleText.isMostlyDigits(segment.utf8) ? Variable.text : nil
      guard let kind = whole ?? before ?? other else {
        segments.append(String(segment))
        last = String(segment)
        continue
      }
      let wished = Self.name(after: last, kind)
      let count = counts[wished, default: 0] + 1
      counts[wished] = count
      let name = count == 1 ? wished : "\(wished)\(count)"
      variables.append((name, kind))
      segments.append("{\(name)}" + (before == nil ? "" : String(ending)))
      last = ""
    }
    template = segments.joined(separator: "/")
    self.variables = variables
  }

  private static func name(after segment: String, _ kind: Variable) -> String {
    if kind == .day { return "day" }
    let plain = segment.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
    guard let first = plain.first, first.isLetter, !isVersion(plain) else { return "id" }
    return singular(plain) + "_id"
  }

  /// The singular of a word; the word itself if its ending is none of a plural, as in `status`.
  private static func singular(_ word: String) -> String {
    let singular = SwiftName.singular(word)
    return singular == word + "Item" ? word : singular
  }

  /// Whether a segment is a version such as `v1`.
  static func isVersion(_ segment: some StringProtocol) -> Bool {
    segment.first == "v" && segment.count > 1 && segment.dropFirst().allSatisfy { $0.isNumber || $0 == "." }
  }

  /// The segments at the beginning of all paths that belong to the base URL, such as `/api/v1`.
  static func base(of paths: [String]) -> String {
    let all = paths.map { $0.split(separator: "/", omittingEmptySubsequences: false).dropFirst() }
    var base = ""
    for index in 0..<3 {
      // At least one segment stays in each path.
      guard let word = all.first?.dropFirst(index).first, word == "api" || isVersion(word),
        all.allSatisfy({ $0.count > index + 1 && $0.dropFirst(index).first == word })
      else { break }
      base += "/\(word)"
    }
    return base
  }

  /// The name of what a path leads to, from its last literal segment: `User` for `/users/{user_id}`.
  static func resource(_ template: String) -> String {
    let words = template.split(separator: "/").filter { !$0.hasPrefix("{") }
    let word = words.last.map { String($0.split(separator: ".").first ?? $0) } ?? "Value"
    return SwiftName.type(singular(word))
  }
}
