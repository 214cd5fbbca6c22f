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

  @Test func `tiny pieces keep their order`() async throws {
    let buffer = PieceBuffer(BodyFlow {})
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    for byte in bytes { _ = await buffer.put(Data([byte])) }
    buffer.finish(nil)
    var taken: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 1_000)
    while case .bytes(let count) = try room.withUnsafeMutableBytes({ try buffer.take(into: $0) }) {
      taken += room[..<count]
    }
    #expect(taken == bytes)
  }
}
