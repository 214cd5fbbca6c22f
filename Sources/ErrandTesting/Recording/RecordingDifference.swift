public import ErrandJSON

/// A difference between a recorded response and the current type.
public struct RecordingDifference: Sendable, Hashable {
  /// The kind of difference.
  public enum Kind: Sendable, Hashable {
    /// The response has a member that the type does not read.
    case notRead
    /// The type needs a member that the response does not have.
    case missing
    /// The member is of another type, or its value is invalid.
    case otherType
    /// The response is not JSON.
    case unreadable
  }

  /// The number of the exchange in the recording, counted from 1.
  public let exchange: Int
  /// The method and the URL of the exchange, as recorded.
  public let request: String
  /// The kind of difference.
  public let kind: Kind
  /// The path in the body. If several paths differ only in array indices, the first of them.
  public let path: JSONPath
  /// The difference, as an English phrase.
  public let reason: String
  /// The number of paths in the body with this difference.
  public let count: Int
}

extension RecordingDifference: CustomStringConvertible {
  /// One line: `exchange 2, GET https://h.example/users: $.users[0].nick: the key "nick" is missing (3 times)`.
  public var description: String {
    "exchange \(exchange), \(request): \(path): \(reason)\(count > 1 ? " (\(count) times)" : "")"
  }
}

/// The differences between a recording and the current types.
public struct RecordingDifferences: Sendable, Hashable {
  /// The differences, in the order of the exchanges.
  public var all: [RecordingDifference] = []
  /// The numbers of the exchanges, counted from 1, that match none of the given requests. They were not compared.
  public var uncompared: [Int] = []

  /// Whether there are no differences.
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
