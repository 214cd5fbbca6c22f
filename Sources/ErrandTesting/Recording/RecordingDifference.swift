public import ErrandJSON

/// A difference between a recorded response and the type that a request decodes now.
public struct RecordingDifference: Sendable, Hashable {
  /// The kind of difference.
  public enum Kind: Sendable, Hashable {
    /// The recorded response has a JSON member that the decoded type does not read.
    case notRead
    /// The decoded type needs a JSON member that the recorded response does not have.
    case missing
    /// A JSON member of the recorded response has another type than the decoded type needs, or an invalid value.
    case otherType
    /// The recorded response is not JSON.
    case unreadable
  }

  /// The number of the exchange in the recording, counted from 1.
  public let exchange: Int
  /// The method and the URL of the exchange, as recorded.
  public let request: String
  /// The kind of difference.
  public let kind: Kind
  /// The path in the response body at which the difference was found. If the difference was found at several paths that
  /// differ only in array indices, the value is the first of these paths.
  public let path: JSONPath
  /// The difference as an English phrase, such as `the key "nick" is missing`.
  public let reason: String
  /// The number of paths in the response body at which this difference was found.
  public let count: Int
}

extension RecordingDifference: CustomStringConvertible {
  /// One line, such as `exchange 2, GET https://h.example/users: $.users[0].nick: the key "nick" is missing (3 times)`.
  public var description: String {
    "exchange \(exchange), \(request): \(path): \(reason)\(count > 1 ? " (\(count) times)" : "")"
  }
}

/// The differences between the responses of a recording and the types that requests decode now.
public struct RecordingDifferences: Sendable, Hashable {
  /// The differences, in the order of the exchanges.
  public var all: [RecordingDifference] = []
  /// The numbers of the exchanges, counted from 1, that match none of the given requests. These exchanges were not
  /// compared.
  public var uncompared: [Int] = []

  /// Whether ``all`` is empty. Exchanges that were not compared do not count as differences.
  public var isEmpty: Bool { all.isEmpty }
}

extension RecordingDifferences: CustomStringConvertible {
  /// One line for each difference, and a line for the exchanges that were not compared.
  public var description: String {
    let rest =
      uncompared.isEmpty ? [] : ["not compared: exchange \(uncompared.map(String.init).joined(separator: ", "))"]
    return (all.isEmpty ? ["no difference"] + rest : all.map(\.description) + rest).joined(separator: "\n")
  }
}
