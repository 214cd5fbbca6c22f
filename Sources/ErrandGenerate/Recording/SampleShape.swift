/// What several samples of a JSON value have in common.
final class SampleShape {
  private var samples = 0
  private var nulls = 0
  private var bools = 0
  private var integers = 0
  private var numbers = 0
  private var strings = 0
  /// The formats that all strings have.
  private var formats = SampleText.formats
  private var arrays = 0
  private var items: SampleShape?
  private var objects = 0
  /// Whether all keys of one sample looked like values.
  private var hasMap = false
  private(set) var members: [(key: String, shape: SampleShape)] = []
  private var places: [String: Int] = [:]

  /// Whether all samples are objects with names that a program chose.
  var isRecord: Bool { objects > 0 && objects + nulls == samples && !members.isEmpty && !isMap }
  /// The shape of the elements, if all samples are arrays.
  var element: SampleShape? { arrays > 0 && arrays == samples ? items : nil }
  private var keys: Set<String> { Set(members.map(\.key)) }

  func add(_ value: DocumentNode) {
    samples += 1
    switch value.content {
    case .null: nulls += 1
    case .bool: bools += 1
    case .number(let text): if Int64(text) != nil { integers += 1 } else { numbers += 1 }
    case .string(let text): add(text)
    case .array(let elements):
      arrays += 1
      let items = items ?? SampleShape()
      self.items = items
      for element in elements { items.add(element) }
    case .object(let object):
      objects += 1
      let kinds = object.entries.map { RecordedKey($0.key) }
      if !kinds.isEmpty, !kinds.contains(.name) { hasMap = true }
      for (key, value) in object.entries { member(key).add(value) }
    }
  }

  /// Adds a text of a query or a form, which may be a number or a Boolean.
  func addArgument(_ text: String) {
    if text == "true" || text == "false" {
      add(DocumentNode(.bool(text == "true")))
    } else if ScalarRules.isJSONNumber(text), text.utf8.count < 19 {
      add(DocumentNode(.number(text)))
    } else {
      add(DocumentNode(.string(text)))
    }
  }

  private func add(_ text: String) {
    strings += 1
    let bytes = Array(text.utf8)
    formats.removeAll { !$0.matches(bytes) }
  }

  func member(_ key: String) -> SampleShape {
    if let place = places[key] { return members[place].shape }
    places[key] = members.count
    let shape = SampleShape()
    members.append((key, shape))
    return shape
  }

  /// Whether the keys are values such as numbers and UUIDs, not names. One key that can only be a value is enough, and
  /// one sample without a certain name, because no value may be written as a name.
  private var isMap: Bool { hasMap || members.contains { RecordedKey($0.key) == .value } }

  /// Whether two shapes are objects, and one has all keys of the other.
  func isSimilar(to other: SampleShape) -> Bool {
    isRecord && other.isRecord && (keys.isSubset(of: other.keys) || other.keys.isSubset(of: keys))
  }

  /// Adds the samples of another shape.
  func merge(_ other: SampleShape) {
    (samples, nulls, bools) = (samples + other.samples, nulls + other.nulls, bools + other.bools)
    (integers, numbers) = (integers + other.integers, numbers + other.numbers)
    (strings, arrays, objects) = (strings + other.strings, arrays + other.arrays, objects + other.objects)
    hasMap = hasMap || other.hasMap
    formats.removeAll { format in !other.formats.contains { $0.name == format.name } }
    if let theirs = other.items {
      let items = items ?? SampleShape()
      self.items = items
      items.merge(theirs)
    }
    for (key, shape) in other.members { member(key).merge(shape) }
  }

  static func reference(_ name: String) -> DocumentNode { ["$ref": .init(.string("#/components/schemas/\(name)"))] }

  /// The schema of the samples. `reference` names the schema of an object that is described elsewhere.
  func schema(_ reference: (SampleShape) -> String? = { _ in nil }) -> DocumentNode {
    if let name = reference(self) {
      return nulls == 0 ? Self.reference(name) : ["anyOf": [Self.reference(name), ["type": "null"]]]
    }
    let kinds = [bools, integers + numbers, strings, arrays, objects].count { $0 > 0 }
    guard kinds == 1 else { return [:] }
    var entries: [(key: String, value: DocumentNode)] = [("type", nulls == 0 ? type : [type, "null"])]
    if strings > 0, let format = formats.first { entries.append(("format", .init(.string(format.name)))) }
    if arrays > 0 { entries.append(("items", items?.schema(reference) ?? [:])) }
    if objects > 0 { entries += content(reference) }
    return DocumentNode(members: entries)
  }

  /// The schema of a text in a query. Null, which such a text cannot be, never occurs.
  var argumentSchema: DocumentNode {
    let kinds = [bools, integers + numbers, strings].count { $0 > 0 }
    return kinds == 1 ? schema() : ["type": "string"]
  }

  private var type: DocumentNode {
    if bools > 0 { return "boolean" }
    if strings > 0 { return "string" }
    if arrays > 0 { return "array" }
    return objects > 0 ? "object" : (numbers > 0 ? "number" : "integer")
  }

  private func content(_ reference: (SampleShape) -> String?) -> [(key: String, value: DocumentNode)] {
    if isMap {
      let all = SampleShape()
      for (_, shape) in members { all.merge(shape) }
      return [("additionalProperties", all.schema(reference))]
    }
    let required = members.filter { $0.shape.samples == objects }.map { DocumentNode(.string($0.key)) }
    let properties = members.map { (key: $0.key, value: $0.shape.schema(reference)) }
    return [("required", DocumentNode(.array(required))), ("properties", DocumentNode(members: properties))]
  }
}

/// What the key of a recorded object is.
enum RecordedKey: Equatable {
  /// A name that a program chose.
  case name
  /// A name with digits, or a value such as a token.
  case unclear
  /// A value: a number, a day, a UUID, a long hexadecimal number, an address, or a text that is no word.
  case value

  init(_ key: String) {
    // OData and JSON-LD add a sign before a name, and OData adds names after the name of a property.
    var bytes = Array(key.utf8)[...]
    if bytes.first == UInt8(ascii: "@") { bytes.removeFirst() }
    if let sign = bytes.firstIndex(of: UInt8(ascii: "@")), bytes[sign...].dropFirst().starts(with: "odata.".utf8) {
      bytes = bytes[..<sign]
    }
    switch RecordedPath.Variable(String(decoding: bytes, as: UTF8.self)) {
    case nil: self = SampleText.isMostlyDigits(bytes) ? .value : .name
    case .number, .uuid, .day: self = .value
    case .text: self = Self.isName(bytes) ? .unclear : .value
    }
  }

  /// Whether a name could be written like this: with letters, at most two groups of digits, and few signs.
  private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
    let groups = bytes.split { !ScalarRules.isDigit($0) }.count
    let isLong = bytes.count > 40 && groups > 0
    let isHex = bytes.allSatisfy { ScalarRules.hex([$0]) != nil }
    return groups < 3 && !isLong && !isHex && !bytes.contains { "@%{};=".utf8.contains($0) }
  }
}

/// The formats of texts that a draft recognises.
enum SampleText {
  struct Format {
    let name: String
    let matches: @Sendable ([UInt8]) -> Bool
  }

  static let formats = [
    Format(name: "date-time", matches: isTime), Format(name: "date", matches: isDay),
    Format(name: "uuid", matches: isUUID),
  ]

  /// A UUID (RFC 9562 section 4).
  @Sendable static func isUUID(_ bytes: [UInt8]) -> Bool {
    matches(bytes, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
  }

  /// A day such as `2026-01-31`.
  @Sendable static func isDay(_ bytes: [UInt8]) -> Bool {
    matches(bytes, "0000-00-00") && isAtMost(bytes[5...6], 12) && isAtMost(bytes[8...9], 31)
  }

  /// A time of RFC 3339 with a zone.
  @Sendable static func isTime(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 20, isDay(Array(bytes[..<10])), bytes[10] == UInt8(ascii: "T"),
      matches(Array(bytes[11..<19]), "00:00:00")
    else { return false }
    var rest = bytes[19...]
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix(while: ScalarRules.isDigit)
      guard !digits.isEmpty else { return false }
      rest = rest.dropFirst(digits.count + 1)
    }
    return rest.elementsEqual("Z".utf8) || matches(Array(rest), "+00:00") || matches(Array(rest), "-00:00")
  }

  /// Whether a text is a value such as a telephone number, an IP address, a month or a time: it has a sign, at least
  /// four digits, and fewer other bytes than digits.
  static func isMostlyDigits(_ bytes: some Collection<UInt8>) -> Bool {
    let digits = bytes.count(where: ScalarRules.isDigit)
    let hasSign = bytes.contains { byte in
      // The bit 0x20 makes a small letter of a capital.
      let isPlain = ScalarRules.isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "_")
      return !isPlain
    }
    return hasSign && digits >= 4 && digits * 2 > bytes.count
  }

  private static func isAtMost(_ digits: ArraySlice<UInt8>, _ most: Int) -> Bool {
    (1...most).contains(Int(String(decoding: digits, as: UTF8.self)) ?? 0)
  }

  /// Whether a text has the form of a pattern, in which `0` stands for a digit and `x` for a hexadecimal one.
  private static func matches(_ bytes: [UInt8], _ pattern: String) -> Bool {
    guard bytes.count == pattern.utf8.count else { return false }
    return zip(bytes, pattern.utf8).allSatisfy { byte, sign in
      switch sign {
      case UInt8(ascii: "0"): ScalarRules.isDigit(byte)
      case UInt8(ascii: "x"): ScalarRules.hex([byte]) != nil
      default: byte == sign
      }
    }
  }
}
