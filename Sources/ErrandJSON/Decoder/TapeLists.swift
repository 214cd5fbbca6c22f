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
