// A stand-in documents nothing: the package that it stands for does.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

private func isToken(_ text: String) -> Bool {
  let marks = "!#$%&'*+-.^_`|~".utf8
  return !text.isEmpty
    && text.utf8.allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: marks.contains($0)
      }
    }
}

public struct HTTPField: Sendable {
  public struct Name: Sendable, Hashable {
    public let rawName: String

    public init?(_ name: String) {
      guard isToken(name) else { return nil }
      rawName = name
    }

    public static var contentLength: Name { Name(known: "Content-Length") }
    public static var contentType: Name { Name(known: "Content-Type") }
    public static var accept: Name { Name(known: "Accept") }
    public static var authorization: Name { Name(known: "Authorization") }
    public static var host: Name { Name(known: "Host") }

    private init(known: String) { rawName = known }

    public static func == (left: Name, right: Name) -> Bool { left.rawName.lowercased() == right.rawName.lowercased() }
    public func hash(into hasher: inout Hasher) { hasher.combine(rawName.lowercased()) }
  }

  public struct DynamicTableIndexingStrategy: Sendable, Hashable {
    private let number: UInt8
    public static var automatic: Self { Self(number: 0) }
    public static var disallow: Self { Self(number: 3) }
  }

  public var name: Name
  public var indexingStrategy = DynamicTableIndexingStrategy.automatic
  private let bytes: [UInt8]

  /// Control characters become spaces, and spaces and tabs at both ends are removed.
  public init(name: Name, value: some Collection<UInt8>) {
    self.name = name
    let spaced = value.map { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F ? $0 : 0x20 }
    let isBlank = { (byte: UInt8) in byte == 0x09 || byte == 0x20 }
    bytes = Array(spaced.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }

  public init(name: Name, value: String) { self.init(name: name, value: value.utf8) }

  public var value: String { String(decoding: bytes, as: UTF8.self) }

  public func withUnsafeBytesOfValue<Result, Failure: Error>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outcome: Swift.Result<Result, Failure> = bytes.withUnsafeBufferPointer { buffer in
      do throws(Failure) { return .success(try body(buffer)) } catch { return .failure(error) }
    }
    return try outcome.get()
  }

  public static func isValidValue(_ value: some Collection<UInt8>) -> Bool {
    Array(value) == HTTPField(name: .accept, value: value).bytes
  }
}

public struct HTTPFields: Sendable, RandomAccessCollection, RangeReplaceableCollection, ExpressibleByDictionaryLiteral {
  private var list: [HTTPField] = []

  public init() {}
  public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
    list = elements.map { HTTPField(name: $0, value: $1) }
  }

  public var startIndex: Int { list.startIndex }
  public var endIndex: Int { list.endIndex }
  public subscript(position: Int) -> HTTPField { list[position] }
  public mutating func replaceSubrange(_ range: Range<Int>, with fields: some Collection<HTTPField>) {
    list.replaceSubrange(range, with: fields)
  }

  public subscript(name: HTTPField.Name) -> String? {
    get {
      let values = self[values: name]
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
    set {
      list.removeAll { $0.name == name }
      if let newValue { list.append(HTTPField(name: name, value: newValue)) }
    }
  }

  public subscript(values name: HTTPField.Name) -> [String] { list.filter { $0.name == name }.map(\.value) }
}

public struct HTTPRequest: Sendable {
  public struct Method: Sendable, Hashable {
    public let rawValue: String

    public init?(_ method: String) {
      guard isToken(method) else { return nil }
      rawValue = method
    }

    private init(known: String) { rawValue = known }

    public static var get: Method { Method(known: "GET") }
    public static var delete: Method { Method(known: "DELETE") }
    public static var head: Method { Method(known: "HEAD") }
    public static var post: Method { Method(known: "POST") }
    public static var put: Method { Method(known: "PUT") }
    public static var connect: Method { Method(known: "CONNECT") }
  }

  public var method: Method
  public var scheme: String?
  public var authority: String?
  public var path: String?
  public var extendedConnectProtocol: String?
  public var headerFields: HTTPFields

  public init(
    method: Method, scheme: String?, authority: String?, path: String?, headerFields: HTTPFields = [:]
  ) {
    self.method = method
    self.scheme = scheme
    self.authority = authority
    self.path = path
    self.headerFields = headerFields
  }
}

public struct HTTPResponse: Sendable {
  public struct Status: Sendable, ExpressibleByIntegerLiteral {
    public let code: Int
    public let reasonPhrase: String

    public init(code: Int, reasonPhrase: String = "") {
      self.code = code
      self.reasonPhrase = reasonPhrase
    }

    public init(integerLiteral value: Int) { self.init(code: value) }
  }

  public var status: Status
  public var headerFields: HTTPFields

  public init(status: Status, headerFields: HTTPFields = [:]) {
    self.status = status
    self.headerFields = headerFields
  }
}
