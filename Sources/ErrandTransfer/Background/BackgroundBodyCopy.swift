import ErrandCore

/// Copies a request body into an open file on a separate serial queue, so that neither the source of the body nor the
/// disk blocks a thread of the cooperative pool.
final class BackgroundBodyCopy: @unchecked Sendable {  // only one job of a serial queue at a time uses it
  private let files: any TransferFiles
  private let file: Int32
  private let source: any BodySource
  private let flows: AsyncStream<Void>
  private let buffer: UnsafeMutableRawBufferPointer
  private let queue = DiskQueue()
  private var place: Int64 = 0

  init(_ body: HTTPBody, into file: Int32, _ files: any TransferFiles) throws {
    let (flows, flow) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    source = try body.open(BodyFlow { flow.yield() })
    self.flows = flows
    self.files = files
    self.file = file
    // Allocate the buffer last: if a later step of this initializer threw an error, `deinit` would not run and the
    // buffer would leak.
    buffer = .allocate(byteCount: 256 << 10, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// Copies the whole body and synchronizes the file to disk. If the task is cancelled, the copy stops after the
  /// current piece.
  func run() async throws {
    var resumptions = flows.makeAsyncIterator()
    while true {
      try Task.checkCancellation()
      switch try await queue.value({ try self.copyPiece() }) {
      case .bytes: break
      case .later:
        if await resumptions.next() == nil {
          try Task.checkCancellation()
          throw TransportFailure(.bodySource, "The source of the body stopped before the end of the body.")
        }
      case .end: return try await queue.value { try self.files.synchronize(self.file) }
      }
    }
  }

  private func copyPiece() throws -> BodyRead {
    let read = try source.read(into: buffer)
    if case .bytes(let count) = read {
      try files.write(file, UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: place)
      place += Int64(count)
    }
    return read
  }
}
