/// A request body while a transport sends it. The body is opened when the first bytes are needed.
package struct BodyUpload {
  private let body: HTTPBody
  private var source: (any BodySource)?
  /// The bytes that the transport has read.
  package private(set) var sent: Int64 = 0
  package private(set) var isWhole = false
  /// True if the source had no bytes and has not reported new bytes yet.
  package var isPaused = false

  package init(_ body: HTTPBody) {
    self.body = body
    if body.length == 0 { isWhole = true }
  }

  /// The length of the body in bytes. Nil if it is not known yet.
  package var total: Int64? { isWhole ? sent : body.length }

  /// True if the body can be sent again from its beginning.
  package var canBeginAnew: Bool { !body.isUsedUp }

  /// Opens a body whose announced length is 0 and reads from it once. Throws if the body contains bytes.
  package func expectEmpty() throws {
    guard body.length == 0, body.data == nil else { return }
    let opened = try body.open(BodyFlow {})
    _ = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { try opened.read(into: $0) }
  }

  /// Releases the source of the body. The other state stays.
  package mutating func close() { source = nil }

  package mutating func give(_ room: UnsafeMutableRawBufferPointer, _ flow: @autoclosure () -> BodyFlow) throws
    -> BodyRead
  {
    if isWhole { return .end }
    let opened = try source ?? body.open(flow())
    source = opened
    let read = try opened.read(into: room)
    switch read {
    case .bytes(let count):
      sent += Int64(count)
      isWhole = sent == body.length
    case .end: isWhole = true
    case .later: isPaused = true
    }
    if isWhole { source = nil }
    return read
  }
}
