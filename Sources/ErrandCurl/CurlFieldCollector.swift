#if os(Linux)
  import ErrandCore

  /// Checks field lines (RFC 9112 section 5) and keeps them as raw bytes.
  struct CurlFieldCollector {
    /// One field of a line; valid as long as the line is.
    struct Field {
      let name: UnsafeRawBufferPointer
      let value: UnsafeRawBufferPointer

      func isNamed(_ text: StaticString) -> Bool { CurlLine.equalFolded(name, text) }
    }

    let limit: Int
    private var bytes: [UInt8] = []
    private(set) var count = 0

    init(limit: Int) { self.limit = limit }

    /// Takes a line without its end.
    mutating func append(_ line: UnsafeRawBufferPointer) throws(TransportFailure) -> Field {
      count += 1
      guard count <= limit else { throw .tooLarge("it has more than \(limit) fields") }
      let field = try Self.split(line)
      if bytes.isEmpty { bytes.reserveCapacity(256) }
      // The colon stands right behind the name.
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: line[..<(field.name.count + 1)]))
      bytes.append(contentsOf: field.value)
      bytes.append(0x0A)
      return field
    }

    mutating func removeAll() {
      bytes = []
      count = 0
    }

    /// Hands the fields over and begins anew.
    mutating func take() -> HTTPFields {
      defer { removeAll() }
      return count == 0 ? HTTPFields() : HTTPFields(raw: RawFieldBlock(bytes: bytes, count: count))
    }

    private static func split(_ line: UnsafeRawBufferPointer) throws(TransportFailure) -> Field {
      guard let first = line.first, first != 0x20, first != 0x09 else {
        throw .malformed("a field is folded over two lines")
      }
      guard let colon = line.firstIndex(of: 0x3A) else { throw .malformed("a field line has no colon") }
      let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
      guard !name.isEmpty, name.allSatisfy({ CurlLine.isToken($0) }) else {
        throw .malformed("the name of a field holds a character that no name may hold")
      }
      return Field(name: name, value: CurlLine.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])))
    }
  }
#endif
