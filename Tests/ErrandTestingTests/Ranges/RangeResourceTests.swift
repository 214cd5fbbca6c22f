import Foundation
import Testing

@testable import ErrandTesting

struct RangeResourceTests {
  @Test(arguments: [0, 1, 7, 1_000, 1_048_582, 1_048_583, 1_048_584, 3_145_750])
  func `pieces match the whole file`(size: Int) {
    let file = RangeResource(size: size)
    let whole = file.bytes(in: 0..<size)
    #expect(whole.count == size)
    #expect(file.has(whole, at: 0))
    for start in [0, 1, size / 2, size - 1, size].filter({ (0...size).contains($0) }) {
      for end in [start, start + 1, start + 1_048_583, size].filter({ (start...size).contains($0) }) {
        #expect(file.bytes(in: start..<end) == whole[start..<end])
        #expect(file.has(whole[start..<end], at: start))
      }
    }
  }

  @Test func `a terabyte needs no memory`() {
    let file = RangeResource(size: 1 << 40)
    let piece = file.bytes(in: (1 << 39)..<(1 << 39) + 100)
    #expect(piece.count == 100)
    #expect(file.has(piece, at: 1 << 39))
    #expect(!file.has(piece, at: 1 << 38))
    #expect(file.runs(in: 0..<(1 << 40)).map(\.bytes.count).reduce(0, +) < 4 << 20)
  }

  @Test func `wrong byte is found`() {
    let file = RangeResource(size: 2_000_000)
    var bytes = file.bytes(in: 5..<1_500_000)
    #expect(file.firstDifference(bytes, at: 5) == nil)
    bytes[700_000] ^= 1
    #expect(file.firstDifference(bytes, at: 5) == 700_005)
    #expect(file.firstDifference([0], at: 2_000_000) == 2_000_000)
    #expect(file.firstDifference([0], at: -1) == -1)
    #expect(file.firstDifference([], at: 0) == nil)
  }

  @Test func `versions differ in most bytes`() {
    let old = RangeResource(size: 100_000, seed: 1).bytes(in: 0..<100_000)
    let new = RangeResource(size: 100_000, seed: 2).bytes(in: 0..<100_000)
    let equal = zip(old, new).count { $0 == $1 }
    #expect((200..<800).contains(equal))
    #expect(RangeResource(size: 1, seed: 1).entityTag != RangeResource(size: 1, seed: 2).entityTag)
  }

  @Test(arguments: [0, -5]) func `empty file has no bytes`(size: Int) {
    let file = RangeResource(size: size)
    #expect(file.size == 0)
    #expect(file.bytes(in: 0..<10).isEmpty)
  }
}
