@testable import ErrandCore
import Foundation
import Testing

struct BinaryPropertyListCheckTests {
  /// A binary property list of objects, each given by its bytes. The first object is the root. A reference takes one
  /// byte.
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

  @Test func `shared objects are accepted`() {
    #expect(Self.kind(Self.list([[0xA3, 1, 1, 1], [0x08]])) == nil)
    #expect(Self.kind(Self.list([[0xD1, 1, 2], [0x51, 0x61], [0xA1, 1]])) == nil)
  }

  @Test func `cyclic object is refused`() {
    #expect(Self.kind(Self.list([[0xA1, 0]])) == .forbidden)
    #expect(Self.kind(Self.list([[0xA1, 1], [0xD1, 2, 0], [0x51, 0x61]])) == .forbidden)
  }

  @Test func `exponential expansion is refused`() {
    // Each level references the next one eight times, so the list expands to 8^20 values.
    let levels = (1...20).map { [0xA8] + [UInt8](repeating: UInt8($0), count: 8) }
    #expect(Self.kind(Self.list(levels + [[0x08]])) == .limit)
  }

  /// A list with `count` references to one object of `size` bytes.
  static func repeated(_ count: Int, _ marker: UInt8, size: Int, unit: Int = 1) -> Data {
    func long(_ marker: UInt8, _ length: Int) -> [UInt8] {
      [marker | 0x0F, 0x12] + withUnsafeBytes(of: UInt32(length).bigEndian, Array.init)
    }
    let array = long(0xA0, count) + [UInt8](repeating: 1, count: count)
    let text = long(marker, size / unit) + [UInt8](repeating: 0x61, count: size)
    var bytes = Data("bplist00".utf8) + Data(array) + Data(text)
    let table = bytes.count
    for offset in [8, 8 + array.count] { bytes += withUnsafeBytes(of: UInt32(offset).bigEndian) { Data($0) } }
    bytes += Data([0, 0, 0, 0, 0, 0, 4, 1])
    for number in [2, 0, table] { bytes += withUnsafeBytes(of: UInt64(number).bigEndian) { Data($0) } }
    return bytes
  }

  @Test(arguments: [(0x40, 1), (0x50, 1), (0x60, 2), (0x70, 1)] as [(UInt8, Int)])
  func `expansion beyond the byte limit is refused`(marker: UInt8, unit: Int) {
    #expect(Self.kind(Self.repeated(1000, marker, size: 1 << 20, unit: unit)) == .limit)
    #expect(Self.kind(Self.repeated(60, marker, size: 1 << 20, unit: unit)) == nil)
  }

  @Test func `repeated text is accepted`() throws {
    let body = Self.repeated(1000, 0x50, size: 1000)
    let checked = try PropertyListFormat.checked(body, charset: nil)
    #expect(try PropertyListDecoder().decode([String].self, from: checked).count == 1000)
  }

  @Test func `date that is not finite is refused`() {
    #expect(Self.kind(Self.list([[0xA1, 1], [0x33, 0x41, 0xC0, 0, 0, 0, 0, 0, 0]])) == nil)
    for moment in [Double.nan, .infinity, -.infinity] {
      let bytes = withUnsafeBytes(of: moment.bitPattern.bigEndian, Array.init)
      #expect(Self.kind(Self.list([[0xA1, 1], [0x33] + bytes])) == .malformed)
    }
    #expect(Self.kind(Self.list([[0xA1, 1], [0x33, 0x41]])) == .malformed)
  }

  @Test func `large single data is accepted`() {
    #expect(Self.kind(Self.repeated(1, 0x40, size: 100 << 20)) == nil)
  }

  @Test func `claimed member count allocates nothing`() {
    var object: [UInt8] = [0xAF, 0x12, 0x00, 0x1E, 0x84, 0x80]  // two million members, all of which are present
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
      // The innermost object is a value, or an array that is one level too deep.
      let body = Self.list(chain.dropLast() + [[0xA1, UInt8(depth)], [0x08]].suffix(2))
      #expect((Self.kind(body) == .limit) == (depth > 100), "\(depth)")
    }
  }

  @Test(arguments: [
    list([[0xA1, 9]]), list([[0x08]], top: 1), list([[0x08]], count: 255), list([[0xAF, 0x13, 255, 255]]),
    list([[0xAF, 0x14]]), list([[0xAF, 0x55]]), list([[0xA4]]), list([]),
  ])
  func `offset out of range is refused`(body: Data) {
    #expect(Self.kind(body) == .malformed)
  }
}
