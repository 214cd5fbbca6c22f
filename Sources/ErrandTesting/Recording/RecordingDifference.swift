public import ErrandJSON

/// A place where a recorded answer and today's type differ.
public struct RecordingDifference: Sendable, Hashable {
  /// In what.
  public enum Kind: Sendable, Hashable {
    /// The answer has a field that the type does not read.
    case notRead
    /// The type needs a field that the answer does not have.
    case missing
    /// The field is of another type, or its value cannot be used.
    case otherType
    /// The answer is not JSON.
    case unreadable
  }

  /// The number of the exchange in the recording, from 1.
  public let exchange: Int
  /// Method and URL of the exchange, as recorded.
  public let request: String
  /// In what.
  public let kind: Kind
  /// Where in the body: the first of several places that differ in indices alone.
  public let path: JSONPath
  /// In what, in words.
  public let reason: String
  /// At how many places of the body.
  public let count: Int
}

extension RecordingDifference: CustomStringConvertible {
  /// One line: `exchange 2, GET https://h.example/users: $.users[0].nick: the key "nick" is missing (3 times)`.
  public var description: String {
    "exchange \(exchange), \(request): \(path): \(reason)\(count > 1 ? " (\(count) times)" : "")"
  }
}

/// What a recording and today's types do not agree in.
public struct RecordingDifferences: Sendable, Hashable {
  /// The differences, in the order of the exchanges.
  public var all: [RecordingDifference] = []
  /// The numbers of the exchanges, from 1, that none of the given requests asks for: nothing was compared there.
  public var uncompared: [Int] = []

  /// Whether nothing differs.
  public var isEmpty: Bool { all.isEmpty }
}

extension RecordingDifferences: CustomStringConvertible {
  /// A line for each difference, and one for the exchanges that were not compared.
  public var description: String {
    let rest =
      uncompared.isEmpty ? [] : ["not compared: exchange \(uncompared.map(String.init).joined(separator: ", "))"]
    return (all.isEmpty ? ["no difference"] + rest : all.map(\.description) + rest).joined(separator: "\n")
  }
}
