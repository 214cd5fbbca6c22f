public import ErrandCore
import ErrandJSON
import ErrandSupport
import Foundation

/// A part of a request, such as the path, in which a ``ReplayTransport`` compares a request with the recorded requests.
///
/// Before the comparison, the request is masked in the same way as the recorded requests.
///
/// ```swift
/// ReplayTransport(recording, matching: [.method, .path, .field("X-Step")])
/// RequestPart("page") { $0.url.query?.contains("page=2") == $1.url.query?.contains("page=2") }
/// ```
public struct RequestPart: Sendable {
  /// The name of the part in error messages, such as `path`.
  public let name: String
  let isSame: @Sendable (_ recorded: HTTPRequest, _ sent: HTTPRequest) -> Bool
  /// Whether a sent request equals a recorded request in this part. Values that the recorder masked only because they
  /// were secret in another exchange may differ.
  let fits: @Sendable (_ recorded: HTTPRequest, _ sent: HTTPRequest) -> Bool

  /// Creates a custom part. The closure returns whether two requests are equal in this part. The closure runs on the
  /// executor on which the request is sent or the recording is compared. For concurrent requests, it runs concurrently.
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

  /// Compares the methods of two requests.
  public static let method = RequestPart("method") { $0.method == $1.method }
  /// Compares the scheme, the host and the port of two requests.
  public static let origin = RequestPart("origin") { $0.url.origin == $1.url.origin }
  /// Compares the paths of two requests, without their queries.
  public static let path = RequestPart("path") {
    $0.url.path == $1.url.path
  } fits: {
    LearntMask.fits($0.url.path, $1.url.path)
  }
  /// Compares the queries of two requests. The order of the query items must be equal, too.
  public static let query = RequestPart("query") {
    $0.url.query == $1.url.query
  } fits: {
    LearntMask.fits($0.url.query ?? "", $1.url.query ?? "")
  }
  /// Compares the bodies of two requests. JSON bodies are compared by value, all other bodies by bytes. A missing body
  /// equals an empty body.
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

  /// Compares the values that a header field has in two requests.
  public static func field(_ name: HTTPFieldName) -> RequestPart {
    RequestPart("field \(name)") { $0.fields.values(of: name).haveSameBytes(as: $1.fields.values(of: name)) }
  }

  /// The parts that a ``ReplayTransport`` compares by default: the method, the whole URL and the body.
  public static let standard: [RequestPart] = [.method, .origin, .path, .query, .body]
}

/// Compares a recorded text with a sent text. The recorder may have masked a value because the value was secret in
/// another exchange. A replay cannot know such values. So the mask in the recorded text, the word `masked`, matches
/// every value that looks like a secret; see ``LearntSecrets/isDistinctive(_:)``.
enum LearntMask {
  static func fits(_ recorded: String, _ sent: String) -> Bool {
    recorded.hasSameBytes(as: sent) || fits(Data(recorded.utf8), Data(sent.utf8))
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
      guard let found = here.range(of: between), mayBeMasked(here[..<found.lowerBound]) else { return false }  // bytes
      here = here[found.upperBound...]
      rest = rest[next.upperBound...]
    }
    return here.count >= rest.count && here.suffix(rest.count).elementsEqual(rest)
      && mayBeMasked(here.dropLast(rest.count))
  }

  /// Compares two JSON values. The strings in `recorded` may contain the mask, the word `masked`.
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

  private static func mayBeMasked(_ value: Data) -> Bool {
    let text = String(decoding: value, as: UTF8.self)
    return text == RecordingMask.mark || LearntSecrets.isDistinctive(text)
  }
}
