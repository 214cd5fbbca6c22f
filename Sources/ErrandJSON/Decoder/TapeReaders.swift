import ErrandSupport
import Synchronization

/// Finds the way in which each type is read from a parsed text. The way is found once for each type and is kept until
/// the program ends.
///
/// A dynamic cast to a protocol takes longer than reading a number. So results are cached in a table of 256 slots. If
/// two types have the same slot, the later type replaces the earlier one.
final class TapeReaders: @unchecked Sendable {  // the table is atomic, and its entries never change
  static let shared = TapeReaders()

  /// The way to read a type.
  enum Reader: Sendable {
    /// The type is read by its own `Decodable` code.
    case ownCode
    case tape(any TapeReadable.Type)
    case json(any JSONReadable.Type)

    init<T>(of type: T.Type) {
      if let list = TapeLists.standIn(for: type) {
        self = .tape(list)
      } else if let readable = type as? any TapeReadable.Type {
        self = .tape(readable)
      } else if let readable = type as? any JSONReadable.Type {
        self = .json(readable)
      } else {
        self = .ownCode
      }
    }
  }

  private struct Entry: Sendable {
    let id: ObjectIdentifier
    let reader: Reader
  }

  private struct Found: Sendable {
    nonisolated(unsafe) let entry: UnsafePointer<Entry>  // never changed and never freed
  }

  private static let count = 256

  private let table: UnsafeMutablePointer<Atomic<UnsafePointer<Entry>?>>
  private let all = Locked<[ObjectIdentifier: Found]>([:])

  private init() {
    table = .allocate(capacity: Self.count)
    for place in 0..<Self.count { (table + place).initialize(to: Atomic(nil)) }
  }

  func reader<T>(of type: T.Type) -> Reader {
    let id = ObjectIdentifier(type)
    let bits = UInt(bitPattern: id)
    let place = Int(truncatingIfNeeded: (bits >> 4 ^ bits >> 12) % UInt(Self.count))
    if let entry = table[place].load(ordering: .acquiring), entry.pointee.id == id { return entry.pointee.reader }
    let found = found(type, id)
    table[place].store(found.entry, ordering: .releasing)
    return found.entry.pointee.reader
  }

  private func found<T>(_ type: T.Type, _ id: ObjectIdentifier) -> Found {
    if let known = all.withLock({ $0[id] }) { return known }
    let reader = Reader(of: type)
    return all.withLock {
      if let known = $0[id] { return known }
      let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
      entry.initialize(to: Entry(id: id, reader: reader))
      let found = Found(entry: UnsafePointer(entry))
      $0[id] = found
      return found
    }
  }
}
