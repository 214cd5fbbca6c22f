/// The state of a request body while a transport sends it. The body is opened when the transport needs the first bytes.
package struct BodyUpload {
  private let body: HTTPBody
  private var source: (any BodySource)?
  /// The number of bytes that the transport has read from the body so far.
  package private(set) var sent: Int64 = 0
  package private(set) var hasEnded = false
  /// True if the last read returned ``BodyRead/later`` and the source has not resumed the body yet.
  package var isPaused = false

  package init(_ body: HTTPBody) {
    self.body = body
    if body.length == 0 { hasEnded = true }
  }

  /// The length of the body in bytes. Nil while the length is unknown.
  package var total: Int64? { hasEnded ? sent : body.length }

  /// True if the body can be sent again from its beginning.
  package var canBeSentAgain: Bool { !body.isUsedUp }

  /// Opens a body whose announced length is 0 and reads from the body once. Throws if the body contains bytes. Without
  /// this check such bytes would be dropped silently, because a transport does not read an empty body.
  package func expectEmpty() throws {
    guard body.length == 0, body.data == nil else { return }
    let opened = try body.open(BodyFlow {})
    _ = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { try opened.read(into: $0) }
  }

  /// Releases the source of the body. Does not change the other properties.
  package mutating func close() { source = nil }

  package mutating func give(_ buffer: UnsafeMutableRawBufferPointer, _ flow: @autoclosure () -> BodyFlow) throws
    -> BodyRead
  {
    if hasEnded { return .end }
    let opened = try source ?? body.open(flow())
    source = opened
    let read = try opened.read(into: buffer)
    switch read {
    case .bytes(let count):
      sent += Int64(count)
      hasEnded = sent == body.length
    case .end: hasEnded = true
    case .later: isPaused = true
    }
    if hasEnded { source = nil }
    return read
  }
}
