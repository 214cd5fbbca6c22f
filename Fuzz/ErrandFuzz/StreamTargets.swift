import Foundation

@testable import ErrandCore
@testable import ErrandHTTP

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
      check(whole.lines.allSatisfy { $0.count <= limit && !$0.contains(0x0A) }, "a line has no end in it")
    }
    var parser = EventParser(limit: limit)
    for line in lines(rest.data, size, true).lines {
      guard let event = try? parser.take(line) else { continue }
      check(!event.type.isEmpty && event.data.utf8.count <= limit && event.id == parser.lastID, "an event is whole")
      check(ASCII.all(event.id, ASCII.isFieldValue), "an identifier can be sent back")
    }
    check(parser.retry.map { $0 >= .zero && $0 <= .seconds(86_400) } ?? true, "a wait is bounded")
  }

  /// What was taken, and whether it ended with a line that is too long.
  private struct Taken: Equatable {
    var lines: [Data] = []
    var isCut = false
  }

  private static func lines(_ bytes: Data, _ size: Int, _ endsAtReturn: Bool) -> Taken {
    var splitter = LineSplitter(limit: limit, endsAtReturn: endsAtReturn)
    var taken = Taken()
    for start in stride(from: 0, to: bytes.count, by: size) {
      do { try splitter.take(bytes[start..<min(start + size, bytes.count)], into: &taken.lines) } catch {
        taken.isCut = true
        return taken
      }
    }
    if let last = splitter.end() { taken.lines.append(last) }
    return taken
  }
}
