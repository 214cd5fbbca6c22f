@testable import ErrandCore
import Foundation
import Testing

@Suite struct BinaryPropertyListCheckTests {
  /// A list of objects, each given by its bytes; the first is the outermost. References take one byte.
  static func list(_ objects: [[UInt8]], top: UInt8 = 0, count: UInt8? = nil) -> Data {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets.append(UInt8(bytes.count))
      bytes += object
    }
    let table = UInt8(bytes.count)
    bytes += offsets
    bytes += [0, 0, 0, 0, 0, 0, 1, 1]
    for number in [count ?? UInt8(objects.count), top, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
    return Data(bytes)
  }

  static func kind(_ data: Data) -> FormatFailure.Kind? {
    do {
      _ = try PropertyListFormat.checked(data, charset: nil)
      return nil
    } catch {
      return error.kind
    }
  }

  @Test func `shared objects are taken`() {
    #expect(Self.kind(Self.list([[0xA3, 1, 1, 1], [0x08]])) == nil)
    #expect(Self.kind(Self.list([[0xD1, 1, 2], [0x51, 0x61], [0xA1, 1]])) == nil)
  }

  @Test func `object that holds itself is refused`() {
    #expect(Self.kind(Self.list([[0xA1, 0]])) == .forbidden)
    #expect(Self.kind(Self.list([[0xA1, 1], [0xD1, 2, 0], [0x51, 0x61]])) == .forbidden)
  }

  @Test func `unfolding without end is refused`() {
    // Each holds the next one eight times: 8 to the 20th.
    let levels = (1...20).map { [0xA8] + [UInt8](repeating: UInt8($0), count: 8) }
    #expect(Self.kind(Self.list(levels + [[0x08]])) == .limit)
  }

  @Test func `claimed members make no room`() {
    var object: [UInt8] = [0xAF, 0x12, 0x00, 0x1E, 0x84, 0x80]  // two million members, all of them there
    object += [UInt8](repeating: 1, count: 2_000_000)
    var bytes = Data("bplist00".utf8) + Data(object) + Data([0x08])
    let table = UInt32(bytes.count)
    bytes += Data([8, 0, 0, 0]) + Data([0, 0, 0, 0, 0, 0, 4, 1])
    bytes += Data([0, 0, 0, 0, 0, 0, 0, 1]) + Data(repeating: 0, count: 8) + Data([0, 0, 0, 0])
    bytes += withUnsafeBytes(of: table.bigEndian) { Data($0) }
    #expect(Self.kind(bytes) == .malformed)
    bytes.replaceSubrange(Int(table)..<Int(table) + 4, with: [0, 0, 0, 8])
    #expect(Self.kind(bytes) == .limit)
  }

  @Test func `deep chain is refused`() {
    for depth in [100, 101] {
      let chain = (1...depth).map { [0xA1, UInt8($0)] as [UInt8] }
      // The innermost is a value, or an array that is one level too deep.
      let body = Self.list(chain.dropLast() + [[0xA1, UInt8(depth)], [0x08]].suffix(2))
      #expect((Self.kind(body) == .limit) == (depth > 100), "\(depth)")
    }
  }

  @Test(arguments: [
    list([[0xA1, 9]]), list([[0x08]], top: 1), list([[0x08]], count: 255), list([[0xAF, 0x13, 255, 255]]),
    list([[0xAF, 0x14]]), list([[0xAF, 0x55]]), list([[0xA4]]), list([]),
  ])
  func `places out of range are refused`(body: Data) {
    #expect(Self.kind(body) == .malformed)
  }
}
