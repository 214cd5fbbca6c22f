#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import Glibc
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Large files, which the system sends directly (`sendfile`), and changes of such a file while it is sent.
  struct EngineFileTests {
    /// A file of a number of bytes, without content on the disk unless it is written. `deinit` removes the file.
    private final class TemporaryFile: Sendable {
      let url = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
      var path: String { url.path(percentEncoded: false) }

      init(_ size: Int) throws {
        try Data().write(to: url)
        cut(to: size)
      }

      deinit { try? FileManager.default.removeItem(at: url) }

      func cut(to size: Int) { #expect(truncate(path, off_t(size)) == 0) }

      func overwrite() throws {
        let handle = try FileHandle(forWritingTo: url)
        try handle.write(contentsOf: Data([1]))
        try handle.close()
      }

      /// True if this process has the file open.
      var isOpen: Bool {
        let folder = "/proc/self/fd"
        let open = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return open.contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path }
      }
    }

    private static let size = Int(UploadFile.bytesInMemory) + (12 << 20)

    private static func post(
      _ url: String, _ file: TemporaryFile, expectsContinue: Bool = false, call: CallState = CallState(),
      onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) throws -> Exchange {
      let body = try HTTPBody.file(file.url)
      let request = try HTTPRequest(
        method: .post, url: url, body: expectsContinue ? body.expectingContinue() : body)
      return Exchange(request: request, call: call, onProgress: onProgress)
    }

    @Test func `a large file arrives completely`() async throws {
      let file = try TemporaryFile(0)
      let data = randomBytes(Self.size + 3, seed: 7)
      try data.write(to: file.url)
      var options = LoopbackOptions()
      options.recordedBodyLimit = Self.size * 2
      let server = try LoopbackServer(options) { _ in .ok("taken") }
      let reports = Locked<[TransferProgress]>([])
      let exchange = try Self.post(server.url, file) { report in reports.withLock { $0.append(report) } }
      let transport = EngineTransport()
      for _ in 0..<2 {
        let response = try await transport.send(exchange)
        #expect(response.text == "taken" && response.metrics.bytesSent > Int64(data.count))
      }
      for number in 1...2 { #expect(try await server.request(number: number).body == Array(data)) }
      let uploaded = reports.withLock { $0.filter { $0.direction == .upload }.map(\.bytes) }
      #expect(uploaded.last == Int64(data.count) && server.connectionCount == 1)
    }

    @Test func `the system sends all but the end of a file`() throws {
      var pair: [Int32] = [-1, -1]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
      defer { for descriptor in pair { close(descriptor) } }
      let file = try TemporaryFile(Self.size)
      let upload = try #require(try UploadFile.open(HTTPBody.file(file.url)))
      let socket = EngineSocket(descriptor: pair[0])
      var room = [UInt8](repeating: 0, count: 1 << 20)
      while let result = upload.send(over: socket) {
        if result == .later { #expect(recv(pair[1], &room, room.count, 0) > 0) }
      }
      #expect(upload.sent == Int64(Self.size) - UploadFile.bytesInMemory && !upload.hasEnded)
      while !upload.hasEnded {
        let read = try room.withUnsafeMutableBytes { try upload.read(into: $0) }
        #expect(read != .end)
      }
    }

    @Test func `a small file is read into memory`() throws {
      let file = try TemporaryFile(Int(UploadFile.bytesInMemory))
      #expect(try UploadFile.open(HTTPBody.file(file.url)) == nil)
      file.cut(to: Self.size)
      #expect(try UploadFile.open(HTTPBody.file(file.url, range: 0..<(20 << 20))) == nil)
    }

    /// Tasks of the app may run on the loop's thread, so it must keep its signal mask, and no signal may be left.
    @Test func `a closed connection raises no signal`() throws {
      let file = try TemporaryFile(Self.size)
      var before = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &before)
      for blocks in [false, true] {
        var pair: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        close(pair[1])
        defer { close(pair[0]) }
        let upload = try #require(try UploadFile.open(HTTPBody.file(file.url)))
        var signals = sigset_t()
        sigaddset(&signals, SIGPIPE)
        if blocks { pthread_sigmask(SIG_BLOCK, &signals, nil) }
        #expect(upload.send(over: EngineSocket(descriptor: pair[0])) == .failed(EPIPE) && upload.sent == 0)
        var (mask, pending) = (sigset_t(), sigset_t())
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        sigpending(&pending)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        #expect(sigismember(&mask, SIGPIPE) == (blocks ? 1 : sigismember(&before, SIGPIPE)))
        #expect(sigismember(&pending, SIGPIPE) == 0)
      }
    }

    @Test(arguments: ["cut", "longer", "overwritten", "replaced"])
    func `a file that changes while it is sent is an error`(change: String) async throws {
      let file = try TemporaryFile(Self.size)
      let gate = Gate()
      let server = try LoopbackServer()
      server.enqueue(.ok("taken"), reception: .held(gate))
      let hasBegun = Counter()
      let exchange = try Self.post(server.url, file) { if $0.bytes > 0 { hasBegun.add() } }
      let sending = Task { try await EngineTransport().send(exchange) }
      try await gate.reached()
      #expect(await eventually { hasBegun.value > 0 })
      switch change {
      case "cut": file.cut(to: 1 << 20)
      case "longer": file.cut(to: Self.size + 1)
      case "overwritten": try file.overwrite()
      default: try Data([1]).write(to: file.url, options: .atomic)
      }
      gate.open()
      switch await sending.result {
      case .failure(let error): #expect((error as? TransportFailure)?.kind == .bodyChanged)
      // The file that was opened is sent even if another one has replaced it.
      case .success(let response): #expect(response.text == "taken" && change == "replaced")
      }
      try await server.wait { $0.openConnectionCount == 0 }
      #expect(server.requests.count == (change == "replaced" ? 1 : 0))
      #expect(!file.isOpen)
    }

    @Test func `a file that changed before it is sent is an error`() async throws {
      let file = try TemporaryFile(Self.size)
      let server = try LoopbackServer { _ in .ok("taken") }
      let exchange = try Self.post(server.url, file)
      file.cut(to: Self.size - 1)
      let failure = await TransportConformance.failure(of: exchange, over: EngineTransport())
      #expect(failure?.kind == .bodyChanged && server.requests.isEmpty)
    }

    @Test func `a file is sent no faster than the server reads`() async throws {
      let file = try TemporaryFile(64 << 20)
      let gate = Gate()
      let server = try LoopbackServer()
      server.enqueue(.ok("taken"), reception: .held(gate))
      let sent = Locked<Int64>(0)
      let exchange = try Self.post(server.url, file) { report in
        if report.direction == .upload { sent.withLock { $0 = report.bytes } }
      }
      async let response = EngineTransport().send(exchange)
      try await gate.reached()
      #expect(await eventually { sent.withLock { $0 } > 0 })
      var before: Int64 = -1
      while before != sent.withLock({ $0 }) {
        before = sent.withLock { $0 }
        for _ in 0..<200 { await Task.yield() }
      }
      #expect(before > 0 && before < 32 << 20)
      gate.open()
      #expect(try await response.text == "taken")
      #expect(sent.withLock { $0 } == 64 << 20)
    }

    @Test func `a stopped call closes the file`() async throws {
      let file = try TemporaryFile(Self.size)
      let gate = Gate()
      let server = try LoopbackServer()
      server.enqueue(.ok("taken"), reception: .held(gate))
      let call = CallState()
      let exchange = try Self.post(server.url, file, call: call)
      let response = Task { try await EngineTransport().send(exchange) }
      try await gate.reached()
      #expect(await eventually { file.isOpen })
      call.stop(.cancelled)
      await #expect(throws: CallState.Stopped.self) { try await response.value }
      #expect(await eventually { !file.isOpen })
    }

    @Test func `a file with Expect: 100-continue waits for status 100`() async throws {
      let file = try TemporaryFile(Self.size)
      let server = try LoopbackServer { $0.headers["Expect"] == nil ? .ok("again") : .status(417, body: "no") }
      let exchange = try Self.post(server.url, file, expectsContinue: true)
      server.enqueue(.ok("taken"))
      let transport = EngineTransport()
      #expect(try await transport.send(exchange).text == "taken")
      let isSpared = try await withinTheSecond {
        server.enqueue(.status(413, body: "no"), reception: .never)
        let rejected = try await transport.send(exchange)
        return rejected.status == 413 && rejected.metrics.bytesSent < 1000
      }
      #expect(isSpared)
      #expect(try await transport.send(exchange).text == "again")
      #expect(server.requests.last?.bodyLength == Self.size)
    }

    @Test func `a response before a reset of a file is read`() async throws {
      let file = try TemporaryFile(Self.size)
      for _ in 0..<10 {
        let server = try LoopbackServer()
        server.enqueue(.status(413, body: "too much").then(.reset), reception: .never)
        // A reset may discard the response in the server's own system before it is sent.
        do {
          let response = try await EngineTransport().send(Self.post(server.url, file))
          #expect(response.status == 413 && response.text == "too much")
        } catch let failure as TransportFailure {
          #expect([.closedBeforeResponse, .reset].contains(failure.kind) && !failure.isCertainlyNotSent)
        }
      }
    }
  }
#endif
