public import ErrandCore
import ErrandJSON
import Foundation

/// A part of a request that is compared when a ``ReplayTransport`` looks for the recorded exchange.
///
/// Both sides are masked by the recording's mask before.
///
/// ```swift
/// ReplayTransport(recording, matching: [.method, .path, .field("X-Step")])
/// RequestPart("page") { $0.url.query?.contains("page=2") == $1.url.query?.contains("page=2") }
/// ```
public struct RequestPart: Sendable {
  /// What errors call it, such as `path`.
  public let name: String
  private let isSame: @Sendable (_ recorded: HTTPRequest, _ sent: HTTPRequest) -> Bool
  private let fits: @Sendable (_ recorded: HTTPRequest, _ sent: HTTPRequest) -> Bool

  /// Makes a part of one's own: whether two requests are the same in it. It runs where the request is sent or
  /// recordings are compared, for several at once where they overlap.
  public init(_ name: String, isSame: @escaping @Sendable (_ recorded: HTTPRequest, _ sent: HTTPRequest) -> Bool) {
    self.init(name, isSame: isSame, fits: isSame)
  }

  private init(
    _ name: String, isSame: @escaping @Sendable (HTTPRequest, HTTPRequest) -> Bool,
    fits: @escaping @Sendable (HTTPRequest, HTTPRequest) -> Bool
  ) {
    self.name = name
    self.isSame = isSame
    self.fits = fits
  }

  /// Whether two requests are the same in it but for what the recorder had learnt to mask.
  func fits(_ recorded: HTTPRequest, _ sent: HTTPRequest) -> Bool { fits(recorded, sent) }

  func isSame(_ recorded: HTTPRequest, _ sent: HTTPRequest) -> Bool { isSame(recorded, sent) }

  /// The method.
  public static let method = RequestPart("method") { $0.method == $1.method }
  /// Scheme, host and port.
  public static let origin = RequestPart("origin") { $0.url.origin == $1.url.origin }
  /// The path, without the query.
  public static let path = RequestPart("path") {
    $0.url.path == $1.url.path
  } fits: {
    LearntMask.fits($0.url.path, $1.url.path)
  }
  /// The query, in its order.
  public static let query = RequestPart("query") {
    $0.url.query == $1.url.query
  } fits: {
    LearntMask.fits($0.url.query ?? "", $1.url.query ?? "")
  }
  /// The body: of JSON what it says, of everything else the bytes. None is the same as an empty one.
  public static let body = RequestPart("body") {
    areAlike($0, $1, bytes: ==, values: ==)
  } fits: {
    areAlike($0, $1, bytes: LearntMask.fits, values: LearntMask.fits)
  }

  private static func areAlike(
    _ recorded: HTTPRequest, _ sent: HTTPRequest, bytes: (Data, Data) -> Bool, values: (JSONValue, JSONValue) -> Bool
  ) -> Bool {
    let (left, right) = (recorded.body?.data ?? Data(), sent.body?.data ?? Data())
    if bytes(left, right) { return true }
    guard let left = try? JSONValue(parsing: left), let right = try? JSONValue(parsing: right) else { return false }
    return values(left, right)
  }

  /// The values of a header field.
  public static func field(_ name: HTTPFieldName) -> RequestPart {
    RequestPart("field \(name)") { $0.fields.values(of: name) == $1.fields.values(of: name) }
  }

  /// Method, URL and body.
  public static let standard: [RequestPart] = [.method, .origin, .path, .query, .body]
}

/// Compares what is recorded with what is sent where the recorder masked a value that it had learnt from another
/// exchange, which a replay cannot know: in its place stands any that could have been learnt.
enum LearntMask {
  static func fits(_ recorded: String, _ sent: String) -> Bool {
    recorded == sent || fits(Data(recorded.utf8), Data(sent.utf8))
  }

  static func fits(_ recorded: Data, _ sent: Data) -> Bool {
    if recorded == sent { return true }
    let mark = Data(RecordingMask.mark.utf8)
    guard let first = recorded.range(of: mark) else { return false }  // bytes
    let start = Data(recorded[..<first.lowerBound])
    guard sent.starts(with: start) else { return false }
    var here = sent.dropFirst(start.count)
    var rest = recorded[first.upperBound...]
    while let next = rest.range(of: mark) {  // bytes
      let between = Data(rest[..<next.lowerBound])
      guard let found = here.range(of: between), stands(here[..<found.lowerBound]) else { return false }  // bytes
      here = here[found.upperBound...]
      rest = rest[next.upperBound...]
    }
    return here.count >= rest.count && here.suffix(rest.count).elementsEqual(rest)
      && stands(here.dropLast(rest.count))
  }

  /// JSON by what it says, texts in it as above.
  static func fits(_ recorded: JSONValue, _ sent: JSONValue) -> Bool {
    switch (recorded.content, sent.content) {
    case (.string(let recorded), .string(let sent)): fits(recorded, sent)
    case (.array(let recorded), .array(let sent)):
      recorded.count == sent.count && zip(recorded, sent).allSatisfy { fits($0, $1) }
    case (.object(let recorded), .object(let sent)):
      recorded.count == sent.count && recorded.allSatisfy { key, value in sent[key].map { fits(value, $0) } ?? false }
    default: recorded == sent
    }
  }

  private static func stands(_ piece: Data) -> Bool {
    let text = String(decoding: piece, as: UTF8.self)
    return text == RecordingMask.mark || LearntSecrets.isTelling(text)
  }
}
