/// A media type, such as the value of `Content-Type` (RFC 9110 section 8.3).
public struct MediaType: Sendable, Hashable {
  /// A parameter of a media type, such as `charset=utf-8`.
  package struct Parameter: Sendable, Hashable {
    /// The name in lower case.
    package let name: String
    /// The value, without quotes.
    package let value: String
  }

  /// Type and subtype in lower case, such as `application/json`.
  public let essence: String
  /// The parameters in the order of the parsed text.
  package let parameters: [Parameter]

  /// Parses a field value; nil if the value is not a media type. The time is linear in the length of the text.
  public init?(_ text: String) {
    // An array is read several times as fast as the UTF-8 view of a string, and this runs for nearly every response.
    let bytes = Array(text.utf8)
    let semicolon = bytes.firstIndex(of: 0x3B) ?? bytes.endIndex
    let essence = ASCII.trimmed(bytes[..<semicolon])
    guard let slash = essence.firstIndex(of: 0x2F), slash != essence.startIndex, slash + 1 != essence.endIndex,
      essence[..<slash].allSatisfy({ ASCII.isToken($0) }), essence[(slash + 1)...].allSatisfy({ ASCII.isToken($0) })
    else { return nil }
    self.essence = Self.lowercased(essence)
    var rest = text.utf8.dropFirst(semicolon)
    var parameters: [Parameter] = []
    while rest.popFirst() == 0x3B {
      if let parameter = Self.parameter(&rest) { parameters.append(parameter) }
    }
    self.parameters = parameters
  }

  /// The value of the first parameter with the given name, which must be in lower case; nil if no parameter has the
  /// name.
  public subscript(parameter: String) -> String? { parameters.first { $0.name == parameter }?.value }

  /// Whether the type is JSON: `application/json`, `text/json` or a type that ends in `+json` (RFC 6839).
  package var isJSON: Bool { essence == "application/json" || essence == "text/json" || essence.hasSuffix("+json") }

  /// Whether the type is that of a form in the format of a URL query.
  package var isForm: Bool { essence == "application/x-www-form-urlencoded" }

  /// Whether a pattern matches this type. A pattern is a type such as `application/json`, a range such as `text/*`, a
  /// structured suffix such as `application/*+xml` or `*/*+xml` (RFC 6838 section 4.2.8), or `*/*`. Parameters of a
  /// pattern, such as `; charset=utf-8`, are not compared.
  package func matches(_ pattern: String) -> Bool {
    if pattern == essence || pattern == "*/*" { return true }
    let pattern = Self.lowercased(ASCII.trimmed(pattern.utf8[...].prefix { $0 != 0x3B }))
    if pattern == "*/*" { return true }
    if pattern.hasPrefix("*/*+"), let subtype = essence.split(separator: "/").last {
      return subtype.count > pattern.count - 3 && subtype.hasSuffix(pattern.dropFirst(3))
    }
    guard let star = pattern.firstIndex(of: "*") else { return pattern == essence }
    let (kind, suffix) = (pattern[..<star], pattern[star...].dropFirst())
    guard kind.hasSuffix("/"), suffix.isEmpty || suffix.hasPrefix("+") else { return false }
    return essence.count > kind.count + suffix.count && essence.hasPrefix(kind) && essence.hasSuffix(suffix)
  }

  /// Whether the type is that of a web page, such as a login page: `text/html` or `application/xhtml+xml`.
  package var isPage: Bool { essence == "text/html" || essence == "application/xhtml+xml" }

  /// Parses one parameter up to the next semicolon outside quotes; nil if the parameter has no equals sign.
  private static func parameter(_ rest: inout Substring.UTF8View) -> Parameter? {
    let name = ASCII.trimmed(rest.prefix { $0 != 0x3D && $0 != 0x3B })
    rest = rest.drop { $0 != 0x3D && $0 != 0x3B }
    guard rest.first == 0x3D else { return nil }
    rest = rest.dropFirst().drop { ASCII.isBlank($0) }
    let value: String
    if rest.first == 0x22 {
      rest.removeFirst()
      value = ASCII.takeQuoted(from: &rest)
    } else {
      value = String(decoding: ASCII.trimmed(rest.prefix { $0 != 0x3B }), as: UTF8.self)
    }
    rest = rest.drop { $0 != 0x3B }
    return Parameter(name: lowercased(name), value: value)
  }

  private static func lowercased(_ text: some Collection<UInt8>) -> String {
    text.contains { $0 &- 0x41 < 26 }
      ? String(decoding: text.map(ASCII.lowercased), as: UTF8.self) : String(decoding: text, as: UTF8.self)
  }
}

extension HTTPResponse {
  /// The media types of the queries that the resource accepts, from the field `Accept-Query` (RFC 10008 section 3); a
  /// range such as `text/*` names several types. Empty if the field is absent or violates the grammar of a list of
  /// structured fields, which makes the whole field invalid (RFC 9651).
  public var acceptQuery: [MediaType] {
    guard let members = try? StructuredField.list(fields.values(of: "Accept-Query")) else { return [] }
    return members.compactMap { $0.item.flatMap(MediaType.init) }
  }
}

extension MediaType {
  /// The media type that a string or a token names, with the parameters of the item; nil for any other item.
  fileprivate init?(_ item: StructuredField.Item) {
    guard let text = item.value.text, let type = MediaType(text), type.parameters.isEmpty else { return nil }
    essence = type.essence
    parameters = item.parameters.all.compactMap(Parameter.init)
  }
}

extension MediaType.Parameter {
  fileprivate init?(_ parameter: StructuredField.Parameter) {
    switch parameter.value {
    case .string(let text), .token(let text): self.init(name: parameter.key, value: text)
    case .integer(let number): self.init(name: parameter.key, value: String(number))
    default: return nil
    }
  }
}
