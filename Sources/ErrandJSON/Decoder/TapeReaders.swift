import ErrandSupport
import Synchronization

/// Finds out in which way the values of each type are read from a parsed text. The result is found once for each type
/// and is kept until the program ends.
///
/// Finding a result takes longer than reading a number, because it needs a dynamic cast to a protocol. So recently used
/// results are also in a table of 256 slots. If two types have the same slot, the later type replaces the earlier type
/// in the table.
final class TapeReaders: @unchecked Sendable {  // the table is atomic, and its entries never change
  static let shared = TapeReaders()

  /// The way in which the values of a type are read.
  enum Reader: Sendable {
    /// The type's own `Decodable` code reads the values.
    case ownCode
    case tape(any TapeReadable.Type)
    case json(any JSONReadable.Type)

    init<T>(of type: T.Type) {
      if let list = TapeLists.substitute(for: type) {
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

/// Reads arrays of strings and numbers by specialised code. The generic code is slower, because it looks up the element
/// type for each element.
///
/// For each array type, a struct with the array as its only property conforms to ``TapeReadable``. This struct and the
/// array have the same memory layout. So the struct is read, and its memory is then used as the array.
enum TapeLists {
  private struct Strings: TapeReadable {
    let list: [String]
    static func read(from source: TapeSource, at index: Int) throws -> Strings {
      Strings(list: try source.elements(of: index) { try source.string(at: $0) })
    }
  }

  private struct Doubles: TapeReadable {
    let list: [Double]
    static func read(from source: TapeSource, at index: Int) throws -> Doubles {
      Doubles(list: try source.elements(of: index) { try source.double(at: $0) })
    }
  }

  private struct Integers: TapeReadable {
    let list: [Int]
    static func read(from source: TapeSource, at index: Int) throws -> Integers {
      Integers(list: try source.elements(of: index) { try source.integer(Int.self, at: $0) })
    }
  }

  /// The struct that is read instead of an array type. Nil for all types without such a struct.
  static func substitute(for type: any Any.Type) -> (any TapeReadable.Type)? {
    if type == [String].self { return Strings.self }
    if type == [Double].self { return Doubles.self }
    if type == [Int].self { return Integers.self }
    return nil
  }
}

extension TapeSource {
  /// Reads the elements of an array in order.
  @inline(__always)
  func elements<Element>(of index: Int, _ read: (_ index: Int) throws -> Element) throws -> [Element] {
    let word = document.word(index)
    guard word.isKind(.array) else { throw mismatch([Any].self, at: index) }
    var elements: [Element] = []
    elements.reserveCapacity(word.length)
    var here = index + 2
    while here < word.place {
      elements.append(try read(here))
      here = document.end(of: here)
    }
    return elements
  }
}
