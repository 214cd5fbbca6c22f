public import ErrandJSON
import Foundation

/// An event that a server sent (HTML Living Standard, section 9.2, "Server-sent events").
public struct ServerSentEvent: Sendable, Hashable {
  /// The type of the event; `message` if the server sets none.
  public var type: String
  /// The data of the event. Several data lines are joined by line feeds.
  public var data: String
  /// The last identifier that the server has sent, with this event or an earlier one; empty if the server has sent
  /// none.
  public var id: String

  /// Makes an event, for example in a test.
  public init(type: String = "message", data: String, id: String = "") {
    self.type = type
    self.data = data
    self.id = id
  }

  /// Decodes the data of the event as JSON, by default with Errand's own decoder. To use the JSON rules of the request
  /// and the client, read ``EventStream/values(of:by:)`` instead.
  /// - Throws: ``APIError`` of the stage ``APIError/Stage/decode``, whose cause is the
  ///   ``/ErrandJSON/JSONDecodingError``.
  public func value<Value: Decodable>(
    as type: Value.Type = Value.self, by json: JSONDecoding = .fast
  ) throws(APIError) -> Value {
    do throws(JSONDecodingError) {
      return try json.decode(Value.self, from: Data(data.utf8))
    } catch {
      let clause = "the data of the event could not be decoded as JSON: \(error)"
      throw APIError(.decode, .decoding, APIError.sentence(clause), cause: error)
    }
  }
}

/// Parses lines into events (HTML Living Standard, section 9.2.6, "Interpreting an event stream"). ``LineReader`` has
/// removed the byte order mark with which a stream may begin.
struct EventParser {
  /// The identifier of the last complete event; empty if there is none. After a lost connection, the stream resumes
  /// from this event.
  private(set) var lastID: String
  /// True if a complete event has set an identifier, even an empty one.
  private(set) var hasID: Bool
  /// The delay before a reconnection that the server set by a `retry:` line; nil if the server set none.
  private(set) var retry: Duration?

  private let limit: Int
  private var type = ""
  private var data = ""
  private var id: String
  private var isIDSaid: Bool

  /// - Parameter limit: The largest size of the data of an event, in bytes.
  init(lastID: String = "", hasID: Bool = false, limit: Int) {
    self.lastID = lastID
    self.hasID = hasID
    self.limit = limit
    id = lastID
    isIDSaid = hasID
  }

  /// Parses a line. Returns the event that the line completes; nil if the line completes no event.
  mutating func take(_ line: Data) throws(LineSplitter.TooLong) -> ServerSentEvent? {
    if line.isEmpty { return finished() }
    let name = line.prefix { $0 != 0x3A }
    var value = line.dropFirst(name.count + 1)
    if value.first == 0x20 { value = value.dropFirst() }
    // The HTML standard requires that invalid UTF-8 is replaced by replacement characters.
    try take(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    return nil
  }

  private mutating func take(_ name: String, _ value: String) throws(LineSplitter.TooLong) {
    switch name {
    case "event": type = value
    case "data":
      // The line feeds that join the earlier lines are already part of the data. The line feed that is appended below
      // is removed again when the event is complete.
      guard data.utf8.count + value.utf8.count <= limit else { throw LineSplitter.TooLong(limit: limit) }
      data += value + "\n"
    // An identifier with characters that a header field may not contain is ignored, because it could not be sent as
    // `Last-Event-ID`.
    case "id": if value.utf8.allSatisfy({ ASCII.isFieldValue($0) }) { (id, isIDSaid) = (value, true) }
    case "retry": retry = Self.milliseconds(value) ?? retry
    default: break
    }
  }

  private mutating func finished() -> ServerSentEvent? {
    (lastID, hasID) = (id, isIDSaid)
    defer { (type, data) = ("", "") }
    guard !data.isEmpty else { return nil }
    return ServerSentEvent(type: type.isEmpty ? "message" : type, data: String(data.dropLast()), id: lastID)
  }

  /// Parses a number of milliseconds; returns nil if the text contains anything except digits. The result is at most
  /// one day.
  private static func milliseconds(_ text: String) -> Duration? {
    guard !text.isEmpty, text.utf8.allSatisfy({ ASCII.isDigit($0) }) else { return nil }
    return .milliseconds(min(Int(text) ?? .max, 86_400_000))
  }
}
