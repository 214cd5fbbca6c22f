package import Foundation

/// Damages pages of an SQLite database as a failing disk does. No log must contain these pages.
package struct DatabaseDamage {
  private static let size = 4_096
  private let file: URL
  /// The bytes before the damage, by their places.
  private var former: [(place: Int, bytes: [UInt8])] = []

  package init(_ file: URL) { self.file = file }

  /// The number of damaged pages.
  package var count: Int { former.count }

  /// Breaks the chains of overflow pages that contain only the byte: the first columns of the row can be read.
  package mutating func breakOverflow(of byte: UInt8) throws {
    try damage([0x7f, 0xff, 0xff, 0xff]) { $0.dropFirst(4).allSatisfy { $0 == byte } }
  }

  /// Makes the first leaf page of a table unreadable that contains a text.
  package mutating func breakLeaf(with text: String) throws {
    let wanted = Data(text.utf8)
    try damage([0xff], limit: 1) { $0.first == 0x0d && Data($0).range(of: wanted) != nil }
  }

  /// Undoes the damage.
  package func repair() throws {
    var bytes = [UInt8](try Data(contentsOf: file))
    for (place, old) in former { bytes.replaceSubrange(place..<(place + old.count), with: old) }
    try write(bytes)
  }

  private mutating func damage(
    _ garbage: [UInt8], limit: Int = .max, where isWanted: (ArraySlice<UInt8>) -> Bool
  ) throws {
    var bytes = [UInt8](try Data(contentsOf: file))
    for page in stride(from: 0, to: bytes.count - Self.size + 1, by: Self.size)
    where former.count < limit && isWanted(bytes[page..<(page + Self.size)]) {
      let range = page..<(page + garbage.count)
      former.append((page, Array(bytes[range])))
      bytes.replaceSubrange(range, with: garbage)
    }
    try write(bytes)
  }

  /// Writes into the file itself: a new file would have another inode, and connections would keep the old one.
  private func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: file) }
}
