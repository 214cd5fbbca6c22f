import ErrandSupport
import Foundation

/// Writes values by streams that are used again: their memory, and what they know of types and names, costs more than a
/// small value.
final class JSONStreams: Sendable {
  private let rules: JSONEncodingRules
  private let idle = Locked<[Idle]>([])

  /// A stream that nobody uses.
  private struct Idle: @unchecked Sendable {  // whoever takes it out of the list is the only one to have it
    let stream: JSONStream
  }

  /// So many streams are kept, of no more bytes than this.
  private static let most = 16
  private static let mostBytes = 1 << 20

  init(rules: JSONEncodingRules) { self.rules = rules }

  /// The text of a value; nil where only `JSONEncoder` can write it.
  func text<T: Encodable>(of value: T) throws -> Data? {
    var stream = idle.withLock { $0.popLast() }?.stream ?? JSONStream(rules: rules)
    defer { keep(&stream) }
    do {
      try stream.write(root: value)
      return stream.bytes.data
    } catch let stop as JSONStop {
      guard let reason = stop.reason else { return nil }
      throw EncodingError.invalidValue(value, EncodingError.Context(codingPath: [], debugDescription: reason))
    }
  }

  /// Keeps a stream for the next value, unless a type has kept an encoder that leads to it.
  private func keep(_ stream: inout JSONStream) {
    guard isKnownUniquelyReferenced(&stream), stream.bytes.capacity <= Self.mostBytes else { return }
    let free = Idle(stream: stream)
    idle.withLock { if $0.count < Self.most { $0.append(free) } }
  }
}

extension JSONStop {
  /// In words; nil where another encoder can do it.
  fileprivate var reason: String? {
    switch self {
    case .handOver: nil
    case .misuse(let what): "The type's own code is at fault: \(what)."
    case .tooDeep: "Arrays and objects are nested deeper than \(JSONStream.nestingLimit) levels."
    }
  }
}

/// The strategies of a `JSONEncoder`, read once.
struct JSONEncodingRules: Sendable {
  let dates: JSONEncoder.DateEncodingStrategy
  let data: JSONEncoder.DataEncodingStrategy
  let keys: JSONEncoder.KeyEncodingStrategy
  let floats: JSONEncoder.NonConformingFloatEncodingStrategy
  let userInfo: [CodingUserInfoKey: any Sendable]
  let sortsAll: Bool
  let keepsKeys: Bool

  init(of encoder: JSONEncoder) {
    dates = encoder.dateEncodingStrategy
    data = encoder.dataEncodingStrategy
    keys = encoder.keyEncodingStrategy
    floats = encoder.nonConformingFloatEncodingStrategy
    userInfo = encoder.userInfo
    sortsAll = encoder.outputFormatting.contains(.sortedKeys)
    if case .useDefaultKeys = keys { keepsKeys = true } else { keepsKeys = false }
  }
}
