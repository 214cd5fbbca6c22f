import ErrandTesting
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The command with standard streams that are closed, full, left or slow, and with signals.
@Suite struct StreamTests {
  /// Runs a line of the shell, in which `$0` is the command and `$1` the server.
  private func shell(
    _ line: String, _ server: LoopbackServer, meanwhile: (Process) async throws -> Void = { _ in }
  ) async throws -> BuiltProgram.Run {
    let words = ["-c", line, try BuiltProgram("errand").place.path(), server.url]
    return try await BuiltProgram(at: URL(filePath: "/bin/sh")).run(words, meanwhile: meanwhile)
  }

  private func inFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-streams-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  // MARK: - Output

  @Test(arguments: ["", " --shape '\"any\"'"]) func `a closed output is told`(options: String) async throws {
    let server = try LoopbackServer { _ in .json("\"text\"") }
    let run = try await shell("exec \"$0\" send \"$1\"\(options) >&-", server)
    #expect(run.status != 0 && run.error.contains("Bad file descriptor"), "\(run.status): \(run.error)")
  }

  @Test func `closed error harms no transfer`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 1 << 20) }
    try await inFolder { folder async throws in
      let file = folder.appending(path: "film")
      let run = try await shell("exec \"$0\" download \"$1\" -o \(file.path()) 2>&-", server)
      #expect(run.status == 0)
      #expect(try Data(contentsOf: file).count == 1 << 20)
    }
  }

  @Test func `who stops reading progress stops nothing`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 1 << 20) }
    try await inFolder { folder async throws in
      let file = folder.appending(path: "film")
      // The reader has gone before the command starts.
      let line = "{ sleep 0.2; \"$0\" download \"$1\" -o \(file.path()) 2>&1; echo $? >\(file.path()).status; } | true"
      _ = try await shell(line, server)
      #expect(await eventually { FileManager.default.fileExists(atPath: file.path() + ".status") })
      #expect(await eventually { (try? String(contentsOfFile: file.path() + ".status", encoding: .utf8)) == "0\n" })
      #expect(try Data(contentsOf: file).count == 1 << 20)
    }
  }

  @Test(arguments: ["", " --shape '\"any\"'"]) func `a reader that left is no news`(options: String) async throws {
    let server = try LoopbackServer { _ in .json("\"text\"") }
    try await inFolder { folder async throws in
      let (error, status) = (folder.appending(path: "error").path(), folder.appending(path: "status").path())
      _ = try await shell(
        "{ sleep 0.2; \"$0\" send \"$1\"\(options) 2>\(error); echo $? >\(status); } | true", server)
      #expect(await eventually { (try? String(contentsOfFile: status, encoding: .utf8)) == "1\n" })
      #expect(try String(contentsOfFile: error, encoding: .utf8) == "")
    }
  }

  @Test func `output that does not block is waited for`() async throws {
    let server = try LoopbackServer { _ in .json("\"\(String(repeating: "x", count: 300_000))\"") }
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    let process = Process()
    process.executableURL = try BuiltProgram("errand").place
    process.arguments = ["send", server.url, "--shape", "\"any\""]
    process.standardOutput = FileHandle(fileDescriptor: ends[1])
    process.standardError = FileHandle.nullDevice
    let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in stop.finish() }
    try process.run()
    // It is full before anything is read.
    let reader = ends[0]
    #expect(await eventually { waiting(in: reader) >= 65_536 })
    var count = 0
    var room = [UInt8](repeating: 0, count: 1 << 16)
    while count < 300_002 {
      let got = read(reader, &room, room.count)
      try #require(got > 0)
      count += got
    }
    for await _ in stopped {}
    #expect(process.terminationStatus == 0 && count == 300_002)
  }

  private func waiting(in descriptor: Int32) -> Int32 {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? count : -1
  }

  @Test(arguments: ["help", "cache list STORE", "cache stats STORE", "cache clear STORE"])
  func `a full disk is told`(words: String) async throws {
    let server = try LoopbackServer { _ in .ok("body").setting("Cache-Control", to: "max-age=60") }
    try await inFolder { folder async throws in
      let store = folder.appending(path: "store").path()
      #expect(try await BuiltCommand.run(["send", server.url, "--cache", store]).status == 0)
      let words = words.replacing("STORE", with: store)
      let run = try await shell("exec \"$0\" \(words) >/dev/full", server)
      #expect(run.status == 1 && run.error.contains("The standard output cannot be written: No space left"))
    }
  }

  // MARK: - Signals

  @Test func `a wish to end leaves nothing behind`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("half of it").stalled(after: 4, until: gate) }
    try await inFolder { folder async throws in
      let run = try await BuiltCommand.run(["send", server.url, "-o", folder.appending(path: "film").path()]) {
        try await gate.reached()
        $0.terminate()
      }
      #expect(run.status == SIGTERM && run.error == "errand: The call was cancelled.\n")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()) == [])
    }
  }

  @Test func `a second interrupt waits for nobody`() async throws {
    let server = try LoopbackServer { _ in .json("\"\(String(repeating: "x", count: 300_000))\"") }
    try await inFolder { folder async throws in
      let place = folder.appending(path: "pipe").path()
      #expect(mkfifo(place, 0o600) == 0)
      let reader = open(place, O_RDONLY | O_NONBLOCK)
      defer { close(reader) }
      let run = try await BuiltCommand.run(["send", server.url, "--shape", "\"any\"", "-o", place]) { process in
        #expect(await eventually { waiting(in: reader) >= 65_536 })
        // Two that come at the same time are one to the system.
        while process.isRunning {
          process.interrupt()
          await Task.yield()
        }
      }
      #expect(run.status == 130)
    }
  }
}
