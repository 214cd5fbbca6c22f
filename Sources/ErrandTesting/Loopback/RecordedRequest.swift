import ErrandCore
import ErrandSupport

/// One request as a ``LoopbackServer`` received it.
public struct RecordedRequest: Sendable, Equatable {
  /// The number of this request among all recorded requests, counted from 1.
  public internal(set) var number = 0
  /// The number of the connection on which the request arrived, counted from 1 in the order in which the connections
  /// were accepted.
  public internal(set) var connection = 0
  /// The number of this request on its connection, counted from 1. A number above 1 means that the connection was
  /// reused.
  public internal(set) var indexOnConnection = 0
  /// The method as sent, such as `GET`.
  public internal(set) var method: String
  /// The request target as sent, such as `/user?id=7`.
  public internal(set) var target: String
  /// The HTTP version as sent: `HTTP/1.1` or `HTTP/1.0`.
  public internal(set) var version: String
  /// The header fields in order.
  public internal(set) var headers: LoopbackHeaders
  /// The exact bytes of the request line and the header fields, including the blank line.
  public internal(set) var head: [UInt8]
  /// The body without its framing, up to ``LoopbackOptions/recordedBodyLimit`` bytes.
  public internal(set) var body: [UInt8] = []
  /// The length of the whole body in bytes, including bytes that were not kept.
  public internal(set) var bodyLength = 0
  /// Whether the whole body has been read. If the server reads the body after the response, the value is false while
  /// the response is sent; see ``LoopbackReception``.
  public internal(set) var isComplete = false
  /// The trailer fields of a chunked body.
  public internal(set) var trailers = LoopbackHeaders()

  /// The part of the target before the question mark, percent-encoded.
  public var path: String {
    target.cut(at: "?").map { String($0.before) } ?? target
  }

  /// The part of the target after the question mark, percent-encoded; nil if the target has no question mark.
  public var query: String? {
    target.cut(at: "?").map { String($0.behind) }
  }

  /// The body decoded as UTF-8, with replacement characters for invalid bytes.
  public var bodyText: String {
    String(decoding: body, as: UTF8.self)
  }
}

/// Header fields in the order in which they are sent. Lookups by name ignore case.
///
/// Nothing is validated, because a test server must be able to send invalid fields. Repeated fields are not merged.
public struct LoopbackHeaders: Sendable, Equatable {
  /// One header field: its name and its value.
  public struct Field: Sendable, Equatable {
    /// The name, in its original case.
    public var name: String
    /// The value. The value of a received field has no white space at its start and end.
    public var value: String

    /// Creates a field from a name and a value.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// All fields in order.
  public var fields: [Field]

  /// Creates headers from fields in order.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// The value of the first field with this name; nil if there is no such field. Setting a value replaces all fields of
  /// that name; setting nil removes them.
  public subscript(name: String) -> String? {
    get { fields.first { $0.isNamed(name) }?.value }
    set {
      let place = fields.firstIndex { $0.isNamed(name) } ?? fields.endIndex
      fields.removeAll { $0.isNamed(name) }
      if let newValue { fields.insert(Field(name, newValue), at: min(place, fields.endIndex)) }
    }
  }

  /// The values of all fields with this name, in order.
  public func values(_ name: String) -> [String] {
    fields.filter { $0.isNamed(name) }.map(\.value)
  }

  /// Appends a field without changing other fields of that name.
  public mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name, value))
  }

  /// These fields with a content type, if they have none.
  func typed(_ contentType: String) -> LoopbackHeaders {
    if self["Content-Type"] != nil { return self }
    var typed = self
    typed["Content-Type"] = contentType
    return typed
  }

  /// Whether a field with a comma-separated list, such as `Connection`, contains `token`. The case of the list is
  /// ignored; `token` must be in lower case.
  func lists(_ token: String, under name: String) -> Bool {
    values(name).contains { value in
      value.split(separator: ",").contains { $0.lowercased().trimmed == token }
    }
  }
}

extension LoopbackHeaders: ExpressibleByDictionaryLiteral {
  /// Creates headers from `["Name": "value"]`. A name may occur more than once.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field($0.0, $0.1) }
  }
}

extension LoopbackHeaders.Field {
  func isNamed(_ other: String) -> Bool {
    name.utf8.count == other.utf8.count && name.lowercased() == other.lowercased()
  }
}

extension StringProtocol {
  /// The text without spaces and tabs at its start and end.
  var trimmed: String { String(Substring(ASCII.trimmed(Substring(self).utf8))) }
}
