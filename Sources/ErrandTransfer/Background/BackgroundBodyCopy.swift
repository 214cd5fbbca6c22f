import ErrandCore

/// Copies a body into an open file on a serial queue of its own, so that neither the source nor the disk blocks a
/// thread of the cooperative pool.
final class BackgroundBodyCopy: @unchecked Sendable {  // used by one job of a serial queue at a time
  private let files: any TransferFiles
  private let file: Int32
  private let source: any BodySource
  private let flows: AsyncStream<Void>
  private let room: UnsafeMutableRawBufferPointer
  private let lane = DiskQueue()
  private var place: Int64 = 0

  init(_ body: HTTPBody, into file: Int32, _ files: any TransferFiles) throws {
    let (flows, flow) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    source = try body.open(BodyFlow { flow.yield() })
    self.flows = flows
    self.files = files
    self.file = file
    // Must be the last step: if a later one threw, `deinit` would not run and the buffer would leak.
    room = .allocate(byteCount: 256 << 10, alignment: 16)
  }

  deinit { room.deallocate() }

  /// Copies the whole body and synchronizes it to disk. Cancelling the task stops the copy between two pieces.
  func run() async throws {
    var resumptions = flows.makeAsyncIterator()
    while true {
      try Task.checkCancellation()
      switch try await lane.value({ try self.copyPiece() }) {
      case .bytes: break
      case .later:
        if await resumptions.next() == nil {
          try Task.checkCancellation()
          throw TransportFailure(.bodySource, "The source of the body stopped before its end.")
        }
      case .end: return try await lane.value { try self.files.synchronize(self.file) }
      }
    }
  }

  private func copyPiece() throws -> BodyRead {
    let read = try source.read(into: room)
    if case .bytes(let count) = read {
      try files.write(file, UnsafeRawBufferPointer(rebasing: room[..<count]), at: place)
      place += Int64(count)
    }
    return read
  }
}
