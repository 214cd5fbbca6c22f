import ErrandSupport
public import Foundation

/// The names and values of a response in `application/x-www-form-urlencoded`, in their order. Names and values are
/// compared by their bytes.
///
/// ```swift
/// var decoder: ResponseDecoder<FormValues> { .form() }
/// let token = try await client.send(RequestToken())["oauth_token"]
/// ```
public struct FormValues: Sendable, Hashable {
  /// One name of the form and its value.
  public struct Entry: Sendable, Hashable, ComparedByBytes {
    /// The name, without percent-encoding.
    public var name: String
    /// The value, without percent-encoding; empty if no `=` follows the name.
    public var value: String

    package var identity: some Hashable { Parts(ByteText(name), ByteText(value)) }
  }

  /// All pairs of name and value, in the order of the form. A name may occur more than once.
  public let entries: [Entry]

  /// The first value of a name; nil if the form does not contain the name.
  public subscript(name: String) -> String? { entries.first { $0.name.hasSameBytes(as: name) }?.value }

  /// All values of a name, in their order; empty if the form does not contain the name.
  public func all(_ name: String) -> [String] { entries.filter { $0.name.hasSameBytes(as: name) }.map(\.value) }

  /// Reads a form in UTF-8. `&` separates pairs, `+` means a space, and `%` with two hexadecimal digits means a byte.
  /// - Throws: ``FormatFailure`` with the index of the field if an escape is invalid or the bytes are not UTF-8. A form
  ///   with more than 1,000,000 values is an error without an index.
  public init(parsing body: Data) throws(FormatFailure) {
    try self.init(parsing: body, mostEntries: Self.mostEntries)
  }

  package init(parsing body: Data, mostEntries: Int) throws(FormatFailure) {
    var entries: [Entry] = []
    var start = body.startIndex
    while start < body.endIndex {
      let end = body[start...].firstIndex(of: UInt8(ascii: "&")) ?? body.endIndex
      if start < end {
        guard entries.count < mostEntries else { throw Self.tooMany(mostEntries) }
        entries.append(try Self.entry(body[start..<end], field: entries.count))
      }
      start = end < body.endIndex ? end + 1 : end
    }
    self.entries = entries
  }

  package static let mostEntries = PropertyListFormat.mostValues

  private static func tooMany(_ limit: Int) -> FormatFailure {
    FormatFailure(.limit, "the form has more than \(limit) values; let the server split it into several responses")
  }

  private static func entry(_ pair: Data, field: Int) throws(FormatFailure) -> Entry {
    let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
    return Entry(
      name: try text(pair[..<equals], field: field), value: try text(pair[equals...].dropFirst(), field: field))
  }

  private static func text(_ bytes: Data, field: Int) throws(FormatFailure) -> String {
    guard let plain = PercentEncoding.decoded(bytes, plusIsSpace: true) else {
      throw FormatFailure(.malformed, "a percent sign is not followed by two hexadecimal digits", path: "[\(field)]")
    }
    guard let text = String(validating: plain, as: UTF8.self) else {
      throw FormatFailure(.malformed, "a name or a value of the form is not UTF-8", path: "[\(field)]")
    }
    return text
  }
}

extension ResponseDecoder where Value == FormValues {
  /// A decoder for a response that is a form. Servers of OAuth 1 and older services send forms.
  public static func form() -> ResponseDecoder {
    ResponseDecoder(DecoderInput("form", accept: "application/x-www-form-urlencoded")) { response, _ in
      try FormValues(parsing: response.body)
    }
  }
}
