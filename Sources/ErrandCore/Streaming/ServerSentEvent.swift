public import ErrandJSON
import Foundation

/// An event that a server sent (HTML Living Standard, section 9.2, "Server-sent events").
public struct ServerSentEvent: Sendable, Hashable {
  /// What it is called; `message` where the server says nothing.
  public var type: String
  /// What it holds; several lines are joined by line feeds.
  public var data: String
  /// The last identifier that the server gave, by this event or one before it; empty where it gave none.
  public var id: String

  /// Makes an event, such as for a test.
  public init(type: String = "message", data: String, id: String = "") {
    self.type = type
    self.data = data
    self.id = id
  }

  /// What it holds, read as JSON: by Errand's own decoder where nothing is said. ``EventStream/values(of:by:)`` reads by
  /// the rules of the request and the client.
  /// - Throws: ``/ErrandJSON/JSONDecodingError``.
  public func value<Value: Decodable>(
    as type: Value.Type = Value.self, by json: JSONDecoding = .fast
  ) throws(JSONDecodingError) -> Value {
    try json.decode(Value.self, from: Data(data.utf8))
  }
}
