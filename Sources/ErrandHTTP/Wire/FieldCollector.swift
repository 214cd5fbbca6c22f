/// Checks field lines (RFC 9112 section 5) and keeps them as raw bytes.
package struct FieldCollector {
  /// The name and the value of one field. Both are valid only while the memory of the line is valid.
  package struct Field {
    package let name: UnsafeRawBufferPointer
    package let value: UnsafeRawBufferPointer

    package func isNamed(_ text: StaticString) -> Bool { HeadLine.equalFolded(name, text) }
  }

  package let limit: Int
  private var bytes: [UInt8] = []
  package private(set) var count = 0
  private var lastStart = 0
  private var lastNameCount = 0
  /// The bits ``HTTPFieldName/filterBit`` of all names, combined in one number.
  private var filterBits: UInt64 = 0
  /// True if the value of the last field consists of several lines.
  package private(set) var isFolded = false

  package init(limit: Int) { self.limit = limit }

  /// Adds a line without its CR LF. A line that begins with a space or a tab continues the previous field: the line
  /// break becomes one space (RFC 9112 section 5.2).
  package mutating func append(_ line: UnsafeRawBufferPointer) throws(TransportFailure) {
    if ASCII.isBlank(line.first) { return try fold(line) }
    count += 1
    guard count <= limit else {
      throw .tooLarge("the headers or the trailers have more than \(limit) fields", raise: "fieldCount")
    }
    let field = try Self.split(line)
    if bytes.isEmpty { bytes.reserveCapacity(256) }
    lastStart = bytes.count
    lastNameCount = field.name.count
    filterBits |= HTTPFieldName.filterBit(of: field.name)
    isFolded = false
    // Append the name and the colon, which directly follows the name.
    bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: line[..<(field.name.count + 1)]))
    bytes.append(contentsOf: field.value)
    bytes.append(0x0A)
  }

  private mutating func fold(_ line: UnsafeRawBufferPointer) throws(TransportFailure) {
    guard count > 0 else { throw .malformed("the first field line begins with a space or a tab") }
    isFolded = true
    let rest = HeadLine.trimmed(line)
    guard !rest.isEmpty else { return }
    bytes.removeLast()
    // If the value of the field is still empty, add no space: spaces at the ends of a value are not part of the value.
    if bytes.count > lastStart + lastNameCount + 1 { bytes.append(0x20) }
    bytes.append(contentsOf: rest)
    bytes.append(0x0A)
  }

  /// The length of the last field's name in bytes; 0 if no field was collected.
  package var lastName: Int { count == 0 ? 0 : lastNameCount }

  /// Passes the last field to `body`. Call this method when the next line has begun. If the next line does not begin
  /// with a space or a tab, the field is complete.
  package func withLast<Result>(_ body: (Field) throws(TransportFailure) -> Result) throws(TransportFailure) -> Result {
    let outcome = bytes.withUnsafeBytes { bytes -> Swift.Result<Result, TransportFailure> in
      let colon = lastStart + lastNameCount
      let field = Field(
        name: UnsafeRawBufferPointer(rebasing: bytes[lastStart..<colon]),
        value: UnsafeRawBufferPointer(rebasing: bytes[(colon + 1)..<(bytes.count - 1)]))
      return Swift.Result { () throws(TransportFailure) in try body(field) }
    }
    return try outcome.get()
  }

  package mutating func removeAll() {
    bytes = []
    count = 0
    filterBits = 0
    isFolded = false
  }

  /// Returns the collected fields and empties the collector.
  package mutating func take() -> HTTPFields {
    defer { removeAll() }
    guard count > 0 else { return HTTPFields() }
    return HTTPFields(raw: RawFieldBlock(bytes: bytes, count: count, filterBits: filterBits))
  }

  private static func split(_ line: UnsafeRawBufferPointer) throws(TransportFailure) -> Field {
    var colon = 0
    while colon < line.count, ASCII.isToken(line[colon]) { colon += 1 }
    guard colon > 0, colon < line.count, line[colon] == 0x3A else {
      throw line.contains(0x3A)
        ? .malformed("the name of a field contains an invalid character") : .malformed("a field line has no colon")
    }
    return Field(
      name: UnsafeRawBufferPointer(rebasing: line[..<colon]),
      value: HeadLine.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])))
  }
}
