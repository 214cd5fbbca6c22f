public import Foundation

/// The names and values of a response in `application/x-www-form-urlencoded`, in their order.
///
/// ```swift
/// var decoder: ResponseDecoder<FormValues> { .form() }
/// let token = try await client.send(RequestToken())["oauth_token"]
/// ```
public struct FormValues: Sendable, Hashable {
  /// One name and its value.
  public struct Entry: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value; empty if no `=` follows the name.
    public var value: String
  }

  /// All entries, in order; a name may occur more than once.
  public let entries: [Entry]

  /// The first value of a name.
  public subscript(name: String) -> String? { entries.first { $0.name == name }?.value }

  /// All values of a name.
  public func all(_ name: String) -> [String] { entries.filter { $0.name == name }.map(\.value) }

  /// Reads a form in UTF-8. `&` separates pairs, `+` means a space, and `%` with two hexadecimal digits means a byte.
  /// - Throws: ``FormatFailure`` with the index of the field if an escape is invalid or the bytes are not UTF-8.
  public init(parsing body: Data) throws(FormatFailure) {
    var entries: [Entry] = []
    for (index, pair) in body.split(separator: UInt8(ascii: "&")).enumerated() {
      let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = try Self.text(halves.first ?? Data(), field: index)
      let value = try Self.text(halves.dropFirst().first ?? Data(), field: index)
      entries.append(Entry(name: name, value: value))
    }
    self.entries = entries
  }

  private static func text(_ bytes: Data, field: Int) throws(FormatFailure) -> String {
    guard let plain = PercentEncoding.decoded(bytes, plusIsSpace: true) else {
      throw FormatFailure(.malformed, "a percent sign is not followed by two hexadecimal digits", path: "[\(field)]")
    }
    guard let text = String(validating: plain, as: UTF8.self) else {
      throw FormatFailure(.malformed, "the text is not UTF-8", path: "[\(field)]")
    }
    return text
  }
}

extension ResponseDecoder where Value == FormValues {
  /// Reads a form. Servers of OAuth 1 and older services send forms.
  public static func form() -> ResponseDecoder {
    ResponseDecoder(name: "form", accept: "application/x-www-form-urlencoded") { response, _ in
      try FormValues(parsing: response.body)
    }
  }
}
