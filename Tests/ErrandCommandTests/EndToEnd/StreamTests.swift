import ErrandTesting
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The command with closed, full, abandoned or slow standard streams, and with signals.
struct StreamTests {
  /// Runs a shell line in which `$0` is the command and `$1` the server.
  private func shell(
    _ line: String, _ server: LoopbackServer, meanwhile: (Process) async throws -> Void = { _ in }
  ) async throws -> BuiltProgram.Run {
    let words = ["-c", line, try BuiltProgram("errand").path, server.url]
    return try await BuiltProgram(at: URL(filePath: "/bin/sh")).run(words, meanwhile: meanwhile)
  }

  private func inFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-streams-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  // MARK: - Output

  @Test(arguments: ["", " --shape '\"any\"'"]) func `a closed output is reported`(options: String) async throws {
    let server = try LoopbackServer { _ in .json("\"text\"") }
    let run = try await shell("exec \"$0\" send \"$1\"\(options) >&-", server)
    #expect(run.status != 0 && run.error.contains("Bad file descriptor"), "\(run.status): \(run.error)")
  }

  @Test func `an open pipe receives the body`() async throws {
    let server = try LoopbackServer { _ in .ok("body") }
    let run = try await shell("\"$0\" send \"$1\" -o /dev/fd/3 3>&1 >/dev/null | cat", server)
    #expect(run.text == "body" && run.error.isEmpty, "\(run.error)")
  }

  @Test func `a download into a pipe is refused`() async throws {
    let server = try LoopbackServer { _ in .ok("body") }
    let run = try await shell("\"$0\" download \"$1/film\" -o /dev/fd/3 3>&1 >/dev/null | cat", server)
    #expect(run.error.contains("“/dev/fd/3” is not a regular file; write to it with"), "\(run.error)")
    #expect(server.requests.isEmpty)
  }

  @Test func `a closed standard error harms no transfer`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 1 << 20) }
    try await inFolder { folder async throws in
      let file = folder.appending(path: "film")
      let run = try await shell("exec \"$0\" download \"$1\" -o '\(file.path)' 2>&-", server)
      #expect(run.status == 0)
      #expect(try Data(contentsOf: file).count == 1 << 20)
    }
  }

  @Test func `a lost progress reader stops nothing`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 1 << 20) }
    try await inFolder { folder async throws in
      let file = folder.appending(path: "film")
      let pipe = try brokenPipe()
      let run = try await run(["download", server.url, "-o", file.path], output: pipe, error: pipe)
      #expect(run.status == 0)
      #expect(try Data(contentsOf: file).count == 1 << 20)
    }
  }

  @Test(arguments: [[], ["--shape", "\"any\""]]) func `a missing reader is not reported`(options: [String]) async throws
  {
    let server = try LoopbackServer { _ in .json("\"text\"") }
    let run = try await run(["send", server.url] + options, output: try brokenPipe())
    #expect(run.status == 1 && run.error == "")
  }

  @Test func `non-blocking output is awaited`() async throws {
    let server = try LoopbackServer { _ in .json("\"\(String(repeating: "x", count: 300_000))\"") }
    let (reader, writer) = try pipe()
    _ = fcntl(writer.fileDescriptor, F_SETFL, O_NONBLOCK)
    var count = 0
    let run = try await run(["send", server.url, "--shape", "\"any\""], output: writer) {
      // The pipe is full before anything is read.
      #expect(await eventually { waiting(in: reader.fileDescriptor) >= 65_536 })
      while count < 300_002 {
        let piece = reader.availableData
        try #require(!piece.isEmpty)
        count += piece.count
      }
    }
    #expect(run.status == 0 && count == 300_002)
  }

  /// Both ends of a pipe, closed when they are released.
  private func pipe() throws -> (reader: FileHandle, writer: FileHandle) {
    let pipe = Pipe()
    return (pipe.fileHandleForReading, pipe.fileHandleForWriting)
  }

  /// The writing end of a pipe without a reader.
  private func brokenPipe() throws -> FileHandle {
    let (reader, writer) = try pipe()
    try reader.close()
    return writer
  }

  /// Runs the command with a given output. Returns its error messages, unless they have a given output, too.
  private func run(
    _ words: [String], output: FileHandle, error: FileHandle? = nil, meanwhile: () async throws -> Void = {}
  ) async throws -> (status: Int32, error: String) {
    let place = FileManager.default.temporaryDirectory.appending(path: "errand-error-\(UUID().uuidString)")
    try Data().write(to: place)
    defer { try? FileManager.default.removeItem(at: place) }
    let process = Process()
    process.executableURL = try BuiltProgram("errand").place
    process.arguments = words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = try error ?? FileHandle(forWritingTo: place)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    try process.run()
    try await meanwhile()
    for await _ in ends {}
    return (process.terminationStatus, try String(contentsOf: place, encoding: .utf8))
  }

  private func waiting(in descriptor: Int32) -> Int32 {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? count : -1
  }

  @Test(arguments: ["help", "cache list STORE", "cache stats STORE", "cache clear STORE"])
  func `a full disk is reported`(words: String) async throws {
    let server = try LoopbackServer { _ in .ok("body").setting("Cache-Control", to: "max-age=60") }
    try await inFolder { folder async throws in
      let store = folder.appending(path: "store").path
      #expect(try await BuiltCommand.run(["send", server.url, "--cache", store]).status == 0)
      let words = words.replacing("STORE", with: "'\(store)'")
      let run = try await shell("exec \"$0\" \(words) >/dev/full", server)
      #expect(run.status == 1 && run.error.contains("Standard output cannot be written: No space left"))
    }
  }

  @Test func `a lost head of a response is reported`() async throws {
    let server = try LoopbackServer { _ in .ok("").setting("Cache-Control", to: "max-age=60") }
    try await inFolder { folder async throws in
      let store = folder.appending(path: "store").path
      #expect(try await BuiltCommand.run(["send", server.url, "--cache", store]).status == 0)
      let run = try await shell("exec \"$0\" cache show '\(store)' \"$1\" >/dev/full", server)
      #expect(run.status == 1 && run.error.contains("Standard output cannot be written: No space left"))
    }
  }

  // MARK: - Signals

  @Test func `SIGTERM leaves no file`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("half of it").stalled(after: 4, until: gate) }
    try await inFolder { folder async throws in
      let run = try await BuiltCommand.run(["send", server.url, "-o", folder.appending(path: "film").path]) {
        try await gate.reached()
        $0.terminate()
      }
      #expect(run.status == SIGTERM && run.error == "errand: The call was cancelled.\n")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal that the parent ignores is ignored`(number: Int32) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("the whole body").stalled(after: 4, until: gate) }
    let run = try await shell("trap '' INT TERM HUP; exec \"$0\" send \"$1\"", server) { process in
      try await gate.reached()
      #expect(kill(process.processIdentifier, number) == 0)
      gate.open()
    }
    #expect(run.status == 0 && run.text == "the whole body", "\(run.status): \(run.error)")
  }

  @Test func `a second interrupt ends at once`() async throws {
    let server = try LoopbackServer { _ in .json("\"\(String(repeating: "x", count: 300_000))\"") }
    try await inFolder { folder async throws in
      let place = folder.appending(path: "pipe").path
      #expect(mkfifo(place, 0o600) == 0)
      let reader = open(place, O_RDONLY | O_NONBLOCK)
      defer { close(reader) }
      let run = try await BuiltCommand.run(["send", server.url, "--shape", "\"any\"", "-o", place]) { process in
        #expect(await eventually { waiting(in: reader) >= 65_536 })
        // The system merges two signals that arrive at the same time.
        while process.isRunning {
          process.interrupt()
          await Task.yield()
        }
      }
      #expect(run.status == 130)
    }
  }
}
