/// Names in Swift for names of a document.
enum SwiftName {
  /// The name of a type: `list-pets` becomes `ListPets`.
  static func type(_ text: String) -> String {
    let name = words(text).map(capitalised).joined()
    // Letters without case get a prefix, too, so that a type never has the name of a property.
    let isCapital = name.unicodeScalars.first?.properties.isUppercase == true
    return isCapital ? shortened(name) : "Value\(shortened(name))"
  }

  /// The name of a property, a case or a parameter: `photo_urls` becomes `photoURLs`.
  static func member(_ text: String) -> String {
    let words = words(text)
    guard let first = words.first else { return "value" }
    let name = shortened(([first.lowercased()] + words.dropFirst().map(capitalised)).joined())
    let startsWithLetter = name.unicodeScalars.first?.properties.isXIDStart == true
    let member = startsWithLetter ? name : "value\(name)"
    return specialMembers.contains(member) ? "\(member)Value" : member
  }

  /// A name that fits into the name of a file, which has at most 255 bytes.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > 180 else { return name }
    var short = String.UnicodeScalarView()
    var count = 0
    for scalar in name.unicodeScalars {
      count += UTF8.width(scalar)
      guard count <= 180 else { break }
      short.append(scalar)
    }
    return String(short)
  }

  /// The name as it is written where an identifier is needed: keywords are in backticks.
  static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// The name of one element of a list: `tags` becomes `tag`.
  static func singular(_ name: String) -> String {
    if name.hasSuffix("ies"), name.count > 4 { return name.dropLast(3) + "y" }
    for ending in ["sses", "shes", "ches", "xes"] where name.hasSuffix(ending) { return String(name.dropLast(2)) }
    let keepsEnd = ["ss", "us", "is"].contains { name.hasSuffix($0) }
    return name.hasSuffix("s") && name.count > 2 && !keepsEnd ? String(name.dropLast()) : name + "Item"
  }

  /// A name that is not taken, by a number at its end.
  static func unique(_ name: String, _ isTaken: (String) -> Bool) -> String {
    guard isTaken(name) else { return name }
    var number = 2
    while isTaken("\(name)\(number)") { number += 1 }
    return "\(name)\(number)"
  }

  private static let acronyms: Set<String> = ["api", "html", "http", "id", "ip", "json", "uri", "url", "uuid"]

  private static func capitalised(_ word: String) -> String {
    let lower = word.lowercased()
    if acronyms.contains(lower) { return lower.uppercased() }
    if lower.last == "s", acronyms.contains(String(lower.dropLast())) { return lower.dropLast().uppercased() + "s" }
    return word.prefix(1).uppercased() + word.dropFirst()
  }

  /// The words of a name: parts between other characters than letters and digits, and before capital letters.
  private static func words(_ text: String) -> [String] {
    var words: [String] = []
    var word = ""
    let shouts = !text.unicodeScalars.contains { $0.properties.isLowercase }
    let scalars = Array(text.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      // Some letters and marks are invisible.
      let isVisible = !scalar.properties.isDefaultIgnorableCodePoint
      let isPart = scalar.properties.isXIDContinue && isVisible && scalar != "_"
      guard isPart else {
        if !word.isEmpty { words.append(word) }
        word = ""
        if let sign = signs[scalar], index == 0 { words.append(sign) }
        continue
      }
      let isCapital = scalar.properties.isUppercase && !shouts
      let followsSmall = index > 0 && !scalars[index - 1].properties.isUppercase
      let precedesSmall = index + 1 < scalars.count && scalars[index + 1].properties.isLowercase
      if isCapital, followsSmall || precedesSmall, !word.isEmpty {
        words.append(word)
        word = ""
      }
      word.unicodeScalars.append(scalar)
    }
    if !word.isEmpty { words.append(word) }
    return shouts ? words.map { $0.lowercased() } : words
  }

  /// Signs at the beginning of a name that distinguish it from other names.
  private static let signs: [Unicode.Scalar: String] = [
    "+": "plus", "-": "minus", "*": "any", "<": "less", ">": "more",
  ]

  /// Names that have a meaning of their own even in backticks, or after a dot.
  private static let specialMembers: Set<String> = ["init", "self", "super"]

  private static let keywords: Set<String> = [
    "Any", "Self", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
    "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
    "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  /// Names of types that generated types must not hide.
  static let reservedTypes: Set<String> = [
    "APIRequest", "APIResponse", "Any", "AnyKey", "ArgumentConvertible", "ArgumentStyle", "ArgumentValue", "Arguments",
    "Array", "Bool", "CalendarDate", "Character", "Codable", "CodingKey", "CodingKeys", "CookieText",
    "CustomStringConvertible", "Data", "Date", "Decodable", "Decoder", "DecodingError", "Dictionary", "Double",
    "Encodable", "Encoder", "Error", "ErrorBody", "Float", "Formats", "HTTPMethod", "Hashable", "Indirect", "Int",
    "Int32", "Int64", "Item", "JSONDecoding", "JSONEncoding", "JSONValue", "KeyedDecodingContainer",
    "KeyedEncodingContainer", "Multipart", "Never", "Nothing", "Optional", "PageLink", "PagedRequest", "Path",
    "ProblemDetails", "Protocol", "RawRepresentable", "RequestBody", "RequestCredential", "RequestFamily",
    "RequestHeaders", "Response", "ResponseDecoder", "Result", "Self", "Sendable", "Set", "String", "Task", "Type",
    "UInt32", "UInt64", "URL", "URLComponents", "UUID", "UnicodeScalar", "Void",
  ]

  /// Names of properties that a request cannot have for its own data, because the protocol `APIRequest` or a warning of
  /// the library uses them.
  static let reservedMembers: Set<String> = [
    "allHTTPHeaderFields", "arguments", "baseURL", "baseUrl", "body", "bodyData", "bodyParameters", "cache", "check",
    "cookies", "credential", "decoder", "delivery", "download", "family", "finishedRequest", "form", "formats",
    "headerFields", "headers", "httpBody", "httpHeaderFields", "httpHeaders", "httpMethod", "idempotency", "method",
    "network", "overlap", "parameterEncoding", "parameters", "params", "path", "priority", "queryItems",
    "queryParameters", "redirects", "requestArgument", "requestBody", "requestMethod", "requestTimeout",
    "requestTimeoutInterval", "requestURL", "requestUrl", "retries", "run", "sent", "server", "task", "timeout",
    "timeoutInterval", "timeouts", "url", "urlString", "validation",
  ]
}
