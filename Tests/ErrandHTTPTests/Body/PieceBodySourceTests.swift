import Foundation
import Testing
import TestSupport

@testable import ErrandHTTP

struct PieceBodySourceTests {
  /// Yields pieces without end, whether or not a reader wants them.
  private struct Endless: AsyncSequence, Sendable {
    final class Life: Sendable {}

    struct AsyncIterator: AsyncIteratorProtocol {
      let life: Life
      mutating func next() async -> Data? {
        await Task.yield()
        return Data(repeating: 1, count: 16 << 10)
      }
    }

    let life = Life()
    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(life: life) }
  }

  @Test func `sequence is released without a reader`() async {
    var pieces: Endless? = Endless()
    weak let life = pieces?.life
    var source = pieces.map { PieceBodySource($0, BodyFlow {}) }
    pieces = nil
    #expect(await eventually { source != nil && life != nil })
    source = nil
    #expect(await eventually { life == nil })
  }
}
