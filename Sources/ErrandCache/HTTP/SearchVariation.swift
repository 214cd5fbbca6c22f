import ErrandCore

/// The parts of a query that do not change the response, from the field `No-Vary-Search` of a response
/// (draft-ietf-httpbis-no-vary-search). URLs that differ only in these parts are equivalent.
///
/// ```
/// No-Vary-Search: key-order, params=("utm_source" "utm_medium")
/// ```
///
/// The algorithm in a text of the draft after version 05 rejects `key-order` without `params` and `except`, although the
/// introduction shows exactly this field. Such a field is accepted here.
struct SearchVariation: Sendable, Hashable {
  /// The names that the field lists, decoded.
  private let names: Set<[UInt8]>
  /// True if the listed parameters are ignored (`params`). False if all others are ignored (`except`).
  private let ignoresNamed: Bool
  /// Whether the order of parameters with different names is ignored (`key-order`).
  private let ignoresOrder: Bool

  static let field: HTTPFieldName = "No-Vary-Search"
  /// The maximum length of the field, in bytes. A longer field is ignored.
  private static let mostBytes = 1_024
  /// The maximum number of names. A field with more names is ignored.
  private static let mostNames = 64

  /// Parses the field. Nil if the whole query counts: the field is absent, malformed, or names nothing to ignore.
  init?(_ fields: HTTPFields) {
    let lines = fields.values(of: Self.field)
    guard !lines.isEmpty, lines.reduce(0, { $0 + $1.utf8.count }) <= Self.mostBytes,
      let members = try? StructuredField.dictionary(lines), let ignoresOrder = Self.boolean(members["key-order"])
    else { return nil }
    self.ignoresOrder = ignoresOrder
    switch (members["params"], members["except"]) {
    case (let params?, nil):
      guard let names = Self.names(params) else { return nil }
      (self.names, ignoresNamed) = (names, true)
    case (nil, let except?):
      guard let names = Self.names(except) else { return nil }
      (self.names, ignoresNamed) = (names, false)
    case (nil, nil): (names, ignoresNamed) = ([], true)
    case (_?, _?): return nil
    }
    if ignoresNamed, names.isEmpty, !ignoresOrder { return nil }
  }

  /// The value of a Boolean member, false if the member is absent; nil if it is something else.
  private static func boolean(_ member: StructuredField.Member?) -> Bool? {
    guard let member else { return false }
    if case .boolean(let value) = member.item?.value { return value }
    return nil
  }

  /// The decoded names in a list of strings; nil if the member is no such list, or if a name is not UTF-8.
  private static func names(_ member: StructuredField.Member) -> Set<[UInt8]>? {
    guard case .list(let items, _) = member, items.count <= mostNames else { return nil }
    var names: Set<[UInt8]> = []
    for item in items {
      guard case .string(let text) = item.value else { return nil }
      let bytes = PercentEncoding.decodedLeniently(text.utf8, plusIsSpace: true)
      guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
      names.insert(bytes)
    }
    return names
  }

  /// The estimated size, in bytes.
  var cost: Int { names.reduce(128) { $0 + $1.count + 64 } }

  /// The query in a normal form. The forms of two queries are equal exactly if URLs that differ only in these queries
  /// are equivalent. A missing query is the same as an empty one.
  func normalForm(of query: String?) -> String {
    var pairs = Self.pairs(query ?? "").filter { names.contains($0.name) != ignoresNamed }
    if ignoresOrder { pairs = Self.sorted(pairs) }
    var form: [UInt8] = []
    for pair in pairs {
      if !form.isEmpty { form.append(0x26) }
      PercentEncoding.append(pair.name[...], to: &form, keeping: .value)
      form.append(0x3D)
      PercentEncoding.append(pair.value[...], to: &form, keeping: .value)
    }
    return String(decoding: form, as: UTF8.self)
  }

  func normalForm(of url: HTTPURL) -> HTTPURL {
    let start = String(decoding: url.string.utf8.prefix(url.queryStart), as: UTF8.self)
    return HTTPURL(
      unchecked: "\(start)?\(normalForm(of: url.query))", origin: url.origin, pathStart: url.pathStart,
      queryStart: url.queryStart)
  }

  // MARK: - The parser of application/x-www-form-urlencoded (WHATWG URL section 5.1)

  private struct Pair {
    let name: [UInt8]
    let value: [UInt8]
  }

  private static func pairs(_ query: String) -> [Pair] {
    query.utf8.split(separator: 0x26).map { pair in
      let name = pair.prefix { $0 != 0x3D }
      return Pair(name: decoded(name), value: decoded(pair[name.endIndex...].dropFirst()))
    }
  }

  /// Sorts by name and keeps the order of parameters with equal names. The draft sorts by UTF-16; any order of the names
  /// gives the same equivalence.
  private static func sorted(_ pairs: [Pair]) -> [Pair] {
    pairs.enumerated().sorted { one, other in
      one.element.name == other.element.name
        ? one.offset < other.offset : one.element.name.lexicographicallyPrecedes(other.element.name)
    }.map(\.element)
  }

  /// Decodes a name or a value. An invalid escape sequence is not changed, and invalid UTF-8 becomes U+FFFD.
  private static func decoded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let decoded = PercentEncoding.decodedLeniently(bytes, plusIsSpace: true)
    return Array(String(decoding: decoded, as: UTF8.self).utf8)
  }
}
