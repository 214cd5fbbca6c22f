import ErrandCore
import ErrandTransfer

/// A file of the app that an upload sends without copying it, with the properties that the file had when the upload was
/// handed over to the system.
struct BackgroundSource: Sendable, Hashable, Codable {
  /// The state of the app's file since the upload was handed over to the system: unchanged, changed or removed.
  enum State: Sendable, Hashable, CaseIterable {
    case unchanged
    case changed
    case gone
  }

  let place: RecordedPlace
  private let length: Int64
  /// The inode number of the file. The device number is not stored, because it may change when the system restarts.
  private let number: UInt64
  private let modified: FileTime

  init(_ path: String, _ status: FileStatus, home: String) {
    place = RecordedPlace(path, home: home)
    length = status.length
    number = status.identity.number
    modified = status.modified
  }

  /// Compares the stored properties with the present status of the file. `status` is nil if no file is at the path.
  func state(now status: FileStatus?) -> State {
    guard let status else { return .gone }
    let isSame =
      status.kind == .file && status.length == length && status.identity.number == number && status.modified == modified
    return isSame ? .unchanged : .changed
  }
}

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
