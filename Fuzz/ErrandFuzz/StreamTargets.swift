import Foundation

@testable import ErrandCore

/// Bodies that are read while they come.
enum StreamTargets {
  private static let limit = 64

  /// The first byte says in pieces of which size the rest comes: that must make no difference to lines and events.
  static func events(_ input: FuzzInput) {
    guard let (choice, rest) = input.choice else { return }
    let size = Int(choice & 0x0F) + 1
    for endsAtReturn in [true, false] {
      let whole = lines(rest.data, max(rest.bytes.count, 1), endsAtReturn)
      let pieces = lines(rest.data, size, endsAtReturn)
      check(whole == pieces, "the size of pieces makes no difference")
      check(whole?.allSatisfy { $0.count <= limit && !$0.contains(0x0A) } ?? true, "a line has no end in it")
    }
    guard let lines = lines(rest.data, size, true) else { return }
    var parser = EventParser(limit: limit)
    for line in lines {
      guard let event = try? parser.take(line) else { continue }
      check(!event.type.isEmpty && event.data.utf8.count < limit && event.id == parser.lastID, "an event is whole")
      check(ASCII.all(event.id, ASCII.isFieldValue), "an identifier can be sent back")
    }
    check(parser.retry.map { $0 >= .zero && $0 <= .seconds(86_400) } ?? true, "a wait is bounded")
  }

  /// Nil where a line is too long.
  private static func lines(_ bytes: Data, _ size: Int, _ endsAtReturn: Bool) -> [Data]? {
    var splitter = LineSplitter(limit: limit, endsAtReturn: endsAtReturn)
    var lines: [Data] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      guard let more = try? splitter.take(bytes[start..<min(start + size, bytes.count)]) else { return nil }
      lines += more
    }
    return lines + [splitter.end()].compactMap { $0 }
  }
}
