@testable import ErrandJSON
import Foundation

/// Values made of the bytes, written by both encoders.
enum EncodeTargets {
  static func encode(_ input: FuzzInput) {
    var script = Script(bytes: input.bytes)
    let value = script.value(depth: 0)
    for sortedKeys in [false, true] {
      let foundation = JSONEncoder()
      foundation.outputFormatting = sortedKeys ? [.sortedKeys, .withoutEscapingSlashes] : [.withoutEscapingSlashes]
      let due = try? foundation.encode(value)
      let text = try? JSONEncoding.fast(by: foundation).encode(value)
      check((text == nil) == (due == nil), "both encoders write a value, or neither")
      guard let text, let due else { continue }
      if sortedKeys { check(text == due, "sorted texts are the same") }
      check((try? JSONValue(parsing: text)) == (try? JSONValue(parsing: due)), "both texts say the same")
    }
  }

  /// Reads what to make from bytes; where there are no more, they are zeros.
  private struct Script {
    let bytes: UnsafeRawBufferPointer
    var at = 0
    /// So that few bytes do not make a great value.
    var left = 400

    mutating func next() -> UInt8 {
      guard at < bytes.count else { return 0 }
      defer { at += 1 }
      return bytes[at]
    }

    mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(next()) } }

    mutating func text() -> String {
      let length = Int(next() & 31)
      return String(decoding: (0..<length).map { _ in next() }, as: UTF8.self)
    }

    mutating func value(depth: Int) -> Node {
      left -= 1
      guard left > 0 else { return .null }
      switch next() % (depth < 40 ? 13 : 8) {
      case 0: return .null
      case 1: return .flag(next() & 1 == 0)
      case 2: return .integer(Int64(truncatingIfNeeded: word()))
      case 3: return .number(Double(bitPattern: word()))
      case 4: return .number(Double(Int32(truncatingIfNeeded: word())) / 1_000)
      case 5, 6: return .text(text())
      case 7: return .numbers((0..<next() % 8).map { _ in Double(next()) / 4 })
      case 8: return .list((0..<next() % 8).map { _ in value(depth: depth + 1) })
      case 9: return .dictionary(Dictionary((0..<next() % 8).map { _ in (text(), value(depth: depth + 1)) }) { $1 })
      case 10: return .wrapped([value(depth: depth + 1)])
      case 11: return .date(Date(timeIntervalSinceReferenceDate: Double(Int32(truncatingIfNeeded: word()))))
      default: return .object((0..<next() % 8).map { _ in (text(), value(depth: depth + 1)) }, inPlace: next() & 1 == 0)
      }
    }
  }

  private indirect enum Node: Encodable {
    case null
    case flag(Bool), integer(Int64), number(Double), text(String), numbers([Double]), date(Date)
    case list([Node]), dictionary([String: Node]), wrapped([Node])
    /// Members, each in a container of its own or as a value.
    case object([(String, Node)], inPlace: Bool)

    func encode(to encoder: any Encoder) throws {
      switch self {
      case .list(let nodes):
        var container = encoder.unkeyedContainer()
        for node in nodes { try container.encode(node) }
      case .object(let members, let inPlace):
        var container = encoder.container(keyedBy: AnyKey.self)
        for (name, node) in members { try Self.write(node, AnyKey(name), in: &container, inPlace) }
      default:
        var container = encoder.singleValueContainer()
        try write(in: &container)
      }
    }

    private static func write(
      _ node: Node, _ key: AnyKey, in container: inout KeyedEncodingContainer<AnyKey>, _ inPlace: Bool
    ) throws {
      guard !inPlace else { return try container.encode(node, forKey: key) }
      try node.encode(to: container.superEncoder(forKey: key))
    }

    private func write(in container: inout any SingleValueEncodingContainer) throws {
      switch self {
      case .null, .list, .object: try container.encodeNil()
      case .flag(let flag): try container.encode(flag)
      case .integer(let integer): try container.encode(integer)
      case .number(let number): try container.encode(number)
      case .text(let text): try container.encode(text)
      case .numbers(let numbers): try container.encode(numbers)
      case .date(let date): try container.encode(date)
      case .dictionary(let members): try container.encode(members)
      case .wrapped(let nodes): try container.encode(nodes)
      }
    }
  }
}
