import ErrandTesting
import Foundation

/// A random value that can be encoded and decoded.
struct Tree: Codable, Equatable {
  var text: String
  var number: Double
  var count: Int
  var big: UInt64
  var flag: Bool?
  var at: Date
  var bytes: Data
  var numbers: [Double]
  var names: [String: Int]
  var children: [Tree]
  var byName: [String: Tree]
  var choice: Choice?

  enum Choice: Codable, Equatable {
    case left(Int, String)
    case right(name: String)
    case none
  }

  init(_ random: inout SeededNumbers, depth: Int) {
    text = Self.text(&random)
    number = Self.number(&random)
    count = Int(truncatingIfNeeded: random.next()) >> random.next(below: 64)
    big = random.next()
    flag = random.happens(30) ? nil : random.happens(50)
    at = Date(timeIntervalSinceReferenceDate: Double(random.next(below: 1_000_000_000)) / 8)
    bytes = Data((0..<random.next(below: 20)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    numbers = (0..<random.next(below: 6)).map { _ in Self.number(&random) }
    names = [:]
    for _ in 0..<random.next(below: 6) { names[Self.text(&random)] = random.next(below: 1_000) }
    (children, byName) = ([], [:])
    if depth < 3 {
      children = (0..<random.next(below: 3)).map { _ in Tree(&random, depth: depth + 1) }
      for _ in 0..<random.next(below: 2) { byName[Self.text(&random)] = Tree(&random, depth: depth + 1) }
    }
    choice = [.left(count, text), .right(name: text), Choice.none, nil][random.next(below: 4)]
  }

  static func text(_ random: inout SeededNumbers) -> String {
    let parts = ["a", "plain text", "\"", "\\", "\n", "\u{0}", "\u{1F}", "é", "日本", "😀", "/", "\u{2028}", " "]
    return (0..<random.next(below: 12)).map { _ in parts[random.next(below: parts.count)] }.joined()
  }

  /// Any finite double, or one with few digits, as in real data.
  static func number(_ random: inout SeededNumbers) -> Double {
    let scale = [1.0, 10, 100, 1e3, 1e6, 1e9, 1e12][random.next(below: 7)]
    switch random.next(below: 4) {
    case 0:
      let number = Double(bitPattern: random.next())
      return number.isFinite ? number : 0
    case 1: return Double(random.next(below: 1_000_000_000)) / scale
    case 2: return Double(Int64(truncatingIfNeeded: random.next()) >> random.next(below: 64)) / scale
    default: return Double(random.next() >> 11) * 0x1p-53 * scale
    }
  }
}
