/// The helper types that generated code uses. Each is written only if it is used. They are members of the enumeration
/// that has the name of the API, so that the code of several APIs can be in one target.
enum SupportText {
  /// The names of the helper types. No other generated type has one of them.
  static let names = ["AnyKey", "CalendarDate", "CookieText", "Indirect", "PageLink"]

  /// The type `PageLink` is only used inside of the module, so the import of its file is internal.
  static let internalName = "PageLink"

  static func path(_ name: String, of family: String) -> String { "Support/\(family)+\(name).swift" }

  /// Writes the file of a helper type.
  static func write(_ name: String, access: String, family: String, to text: inout SwiftText) {
    text.block("extension \(family)") { $0.rows(of: declaration(name, access)) }
    guard name == "Indirect" else { return }
    text.blank()
    text.rows(of: coding(access, "\(family).Indirect"))
  }

  /// A line of code with the enumeration of the API before the names of the helper types. Comments and string literals
  /// are not changed.
  static func qualified(_ line: String, of family: String) -> String {
    guard names.contains(where: { line.containsWord($0) }) else { return line }
    guard !line.drop(while: { $0 == " " }).hasPrefix("///") else { return line }
    var out: [UInt8] = []
    var word: [UInt8] = []
    var isText = false
    var isEscaped = false
    for byte in line.utf8 + [UInt8(ascii: " ")] {
      if !isText, byte.isPartOfWord {
        word.append(byte)
        continue
      }
      if !word.isEmpty {
        let name = String(decoding: word, as: UTF8.self)
        out += Array((names.contains(name) ? "\(family).\(name)" : name).utf8)
        word = []
      }
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isText.toggle()
      } else if isText, byte == UInt8(ascii: "\\") {
        isEscaped = true
      }
      out.append(byte)
    }
    return String(decoding: out.dropLast(), as: UTF8.self)
  }

  private static func declaration(_ name: String, _ access: String) -> String {
    switch name {
    case "AnyKey": anyKey
    case "CalendarDate": calendarDate(access)
    case "CookieText": cookieText
    case "Indirect": indirect(access)
    default: pageLink
    }
  }

  private static let pageLink = """
    /// Reads the URL of the next page.
    enum PageLink {
      /// The value of an argument in the query of a link, decoded as in a form; nil if the link has no such argument.
      static func argument(_ name: String, in link: String) -> String? {
        let items = URLComponents(string: link)?.percentEncodedQueryItems ?? []
        let value = items.first { $0.name.removingPercentEncoding == name }?.value
        return value?.replacing("+", with: " ").removingPercentEncoding
      }
    }

    """

  private static let cookieText = """
    /// Prepares texts for cookies.
    enum CookieText {
      /// The text with percent-encoding for the bytes that the value of a cookie cannot contain (RFC 6265 section
      /// 4.1.1), such as spaces and semicolons. Quotes around the value and percent signs stay, so that values of the
      /// server are sent back unchanged.
      static func escaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let isQuoted = bytes.count > 1 && bytes.first == 0x22 && bytes.last == 0x22
        var out = ""
        for (index, byte) in bytes.enumerated() {
          switch byte {
          case 0x22 where isQuoted && (index == 0 || index == bytes.count - 1): out += "\\""
          case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: out.append(Character(UnicodeScalar(byte)))
          default: out += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
          }
        }
        return out
      }
    }

    """

  private static let anyKey = """
    /// A key of an object whose names are known only at run time.
    struct AnyKey: CodingKey {
      let stringValue: String
      let intValue: Int? = nil

      init(_ name: String) { stringValue = name }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    """

  private static func calendarDate(_ access: String) -> String {
    """
    /// A day of the calendar without a time and without a time zone, such as 2026-01-31.
    \(access)struct CalendarDate: Codable, Hashable, Sendable, ArgumentConvertible, CustomStringConvertible {
      \(access)var year: Int
      \(access)var month: Int
      \(access)var day: Int

      \(access)init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
      }

      /// Reads a text such as `2026-01-31`; nil for any other text.
      \(access)init?(_ text: String) {
        let parts = text.split(separator: "-").map { Int($0) }
        guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2], (1...12).contains(month),
          (1...31).contains(day)
        else { return nil }
        self.init(year: year, month: month, day: day)
        guard description == text else { return nil }
      }

      \(access)init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let date = CalendarDate(try container.decode(String.self)) else {
          throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected a date such as 2026-01-31")
        }
        self = date
      }

      \(access)func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
      }

      \(access)var argumentValue: ArgumentValue { .string(description) }

      /// The date as it is sent, such as `2026-01-31`.
      \(access)var description: String { "\\(padded(year, 4))-\\(padded(month, 2))-\\(padded(day, 2))" }

      private func padded(_ number: Int, _ width: Int) -> String {
        String(repeating: "0", count: max(0, width - "\\(number)".count)) + "\\(number)"
      }
    }

    """
  }

  private static func indirect(_ access: String) -> String {
    """
    /// Stores the value of a property outside of its struct, so that a struct can contain a value of its own type.
    @propertyWrapper
    \(access)struct Indirect<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
      private indirect enum Box: Hashable, Sendable { case value(Value) }

      private var box: Box

      \(access)init(wrappedValue: Value) { box = .value(wrappedValue) }

      \(access)var wrappedValue: Value {
        get {
          switch box {
          case .value(let value): value
          }
        }
        set { box = .value(newValue) }
      }

      \(access)init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
      }

      \(access)func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
      }
    }

    """
  }

  /// The extensions that print, read and write a property of the type `name`, which has the name of the API before it.
  private static func coding(_ access: String, _ name: String) -> String {
    """
    extension \(name): CustomStringConvertible {
      /// The value as it is printed without this type.
      \(access)var description: String { String(describing: wrappedValue) }
    }

    extension KeyedDecodingContainer {
      /// Reads a property that may be missing.
      \(access)func decode<Value>(_ type: \(name)<Value?>.Type, forKey key: Key) throws
        -> \(name)<Value?>
      {
        \(name)(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
      }
    }

    extension KeyedEncodingContainer {
      /// Writes a property unless it is nil.
      \(access)mutating func encode<Value>(_ value: \(name)<Value?>, forKey key: Key) throws {
        try encodeIfPresent(value.wrappedValue, forKey: key)
      }
    }

    """
  }
}
