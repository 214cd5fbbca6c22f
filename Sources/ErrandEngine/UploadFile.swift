#if os(Linux)
  import CErrandEngine
  import ErrandHTTP
  import Glibc

  /// A large file that is sent as a request body in cleartext over HTTP/1.1. The system sends most of the file from its
  /// own cache (`sendfile(2)`), so these bytes are not copied into this process and back.
  ///
  /// No system copies these bytes before the server reads them, so a change of the file also changes bytes that were
  /// sent. The end of the file is therefore read into memory. It is longer than the default buffers of the client's and
  /// the server's sockets together, so when the last bytes are sent, all bytes that were not read into memory have
  /// arrived. The last bytes are sent only if the file has not changed, so no server receives a complete but damaged
  /// body.
  final class UploadFile {
    /// The number of bytes at the end of a file that are read into memory. Linux limits the buffers to 4 MiB for
    /// sending and 6 MiB for receiving by default (`tcp_wmem`, `tcp_rmem`).
    static let bytesInMemory: Int64 = 16 << 20

    private let path: String
    private let descriptor: Int32
    private let length: Int64
    /// The status of the file when it was opened.
    private let status: stat
    /// The number of bytes that were sent or read.
    private(set) var sent: Int64 = 0
    /// True if the system sends the next bytes. False if they are read into memory.
    private var isDirect = true

    /// Opens the file of a body. Returns nil if the body is not a large file, or if the file cannot be opened: the
    /// source of the body then throws the error. Throws if the file has changed since the request was built.
    static func open(_ body: HTTPBody) throws -> UploadFile? {
      guard let path = body.filePath, let length = body.length, length > bytesInMemory else { return nil }
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { return nil }
      let file = UploadFile(path, descriptor, length)
      // The source compares the file at the path with the one from which the request was built.
      _ = try body.open(BodyFlow {})
      var found = stat()
      guard stat(path, &found) == 0, file.isEqual(to: found) else { throw file.changed }
      return file
    }

    private init(_ path: String, _ descriptor: Int32, _ length: Int64) {
      self.path = path
      self.descriptor = descriptor
      self.length = length
      var status = stat()
      fstat(descriptor, &status)
      self.status = status
    }

    deinit { close(descriptor) }

    /// True if the whole file was sent or read.
    var hasEnded: Bool { sent == length }

    /// Lets the system send the next bytes. Returns nil if the next bytes must be read into memory.
    func send(over socket: EngineSocket) -> EngineSocket.Transferred? {
      let left = length - Self.bytesInMemory - sent
      guard isDirect, left > 0 else { return nil }
      let most = Int(min(left, Int64(TurnShare.most)))
      let count = errand_send_file(socket.descriptor, descriptor, off_t(sent), most)
      if count > 0 {
        sent += Int64(count)
        return .bytes(count)
      }
      if count < 0, errno == EAGAIN { return .later }
      if count < 0, errno == ECONNRESET || errno == EPIPE { return .failed(errno) }
      // The file is shorter now or cannot be read: reading it into memory reports the error.
      isDirect = false
      return nil
    }

    /// Reads the next bytes into memory. Throws before the last ones if the file has changed.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportFailure) -> BodyRead {
      if hasEnded { return .end }
      let most = min(buffer.count, Int(clamping: length - sent))
      let count = pread(descriptor, buffer.baseAddress, most, off_t(sent))
      if count < 0, errno == EINTR { return try read(into: buffer) }
      guard count >= 0 else {
        let reason = String(cString: strerror(errno))
        throw TransportFailure(.bodySource, "The file \(path) cannot be read: \(reason).")
      }
      sent += Int64(count)
      var found = stat()
      if count == 0 || hasEnded && (fstat(descriptor, &found) != 0 || !isEqual(to: found)) { throw changed }
      return .bytes(count)
    }

    /// True if a file is the same version of the same file.
    private func isEqual(to found: stat) -> Bool {
      found.st_dev == status.st_dev && found.st_ino == status.st_ino && found.st_size == status.st_size
        && found.st_mtim.tv_sec == status.st_mtim.tv_sec && found.st_mtim.tv_nsec == status.st_mtim.tv_nsec
    }

    private var changed: TransportFailure {
      TransportFailure(.bodyChanged, "The file \(path) changed after the request was built; send the request again.")
    }
  }
#endif
