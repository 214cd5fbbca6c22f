import ErrandTesting
import Foundation
import Testing

/// Runs the curl command, and returns its exit status and its output.
private func curl(_ arguments: String...) async throws -> (status: Int32, output: String) {
  try await curl(arguments)
}

private func curl(_ arguments: [String]) async throws -> (status: Int32, output: String) {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["curl", "-q", "-s", "--noproxy", "*", "--max-time", "20"] + arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  return try await withCheckedThrowingContinuation { continuation in
    process.terminationHandler = { process in
      let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      continuation.resume(returning: (process.terminationStatus, output))
    }
    do { try process.run() } catch { continuation.resume(throwing: error) }
  }
}

/// The peak memory of this process, in the system's unit.
private func peakMemory() -> Int {
  var usage = rusage()
  _ = getrusage(0, &usage)
  return usage.ru_maxrss
}

/// Checks with an independent client that it receives the same as raw sockets do.
@Suite(.serialized)  // Each test holds sockets, and a process may have no more than 1,024 descriptors.
struct LoopbackCurlTests {
  @Test(arguments: [
    (LoopbackAnswer.ok("hello"), Int32(0)), (.chunked(["he", "llo"], trailers: ["T": "1"]), 0),
    (.ok("hello").informational(103, headers: ["Link": "x"]), 0), (.ok("hello").dripped(every: .zero), 0),
    (.ok("hello!").cut(after: 5), 18), (.chunked(["hello"], isComplete: false), 18),
    (.ok("hello").setting("Content-Length", to: "6").closed(), 18), (.ok("hello").closed(), 0),
    (.ok("hello!").reset(after: 5), 56),
  ])
  func `curl receives content and fault`(answer: LoopbackAnswer, status: Int32) async throws {
    let server = try LoopbackServer { _ in answer }
    let result = try await curl(server.url)
    #expect(result.output == "hello")
    #expect(result.status == status)
  }

  @Test(arguments: [
    (LoopbackAnswer.closeBeforeAnswer, Int32(52)), (.resetBeforeAnswer, 56), (.raw("gibberish\r\n\r\n"), 1),
    (.ok("").setting("Content-Length", to: "-1"), 8),
  ])
  func `curl fails without content`(answer: LoopbackAnswer, status: Int32) async throws {
    let server = try LoopbackServer { _ in answer }
    #expect(try await curl(server.url).status == status)
  }

  @Test(arguments: [LoopbackAnswer.stall(), .ok("hello").stalled(), .endless(chunked: true)])
  func `curl times out`(answer: LoopbackAnswer) async throws {
    let server = try LoopbackServer { _ in answer }
    #expect(try await curl("--max-time", "2", "-o", "/dev/null", server.url).status == 28)
    try await server.wait { $0.connectionCount == 1 && $0.openConnectionCount == 0 }
  }

  /// The address sanitizer keeps freed memory for a while.
  private static var keepsFreedMemory: Bool {
    #if ASAN
      true
    #else
      false
    #endif
  }

  @Test(.disabled(if: keepsFreedMemory)) func `a gibibyte costs no memory`() async {
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer { request in .generated(count: request.path == "/big" ? 1 << 30 : 1 << 20) }
      let small = try await curl("-o", "/dev/null", "-w", "%{size_download}", server.url)
      #expect(small.output == String(1 << 20))
      let before = peakMemory()
      let words = ["--max-time", "300", "-o", "/dev/null", "-w", "%{size_download}"]
      let big = try await curl(words + [server.url + "/big"])
      #expect(big.output == String(1 << 30))
      #expect(peakMemory() < before * 2)
    }
  }

  @Test func `TLS handshake is rejected`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    #expect(try await curl("-k", "https://127.0.0.1:\(server.port)").status == 35)
    #expect(server.record.refusals == ["the request line is invalid"])
  }

  @Test(.enabled(if: (try? RefusingPort(address: .ipv6)) != nil, "this machine has no IPv6"))
  func `curl connects over IPv6`() async throws {
    let server = try LoopbackServer(.init(address: .ipv6)) { _ in .ok("six") }
    #expect(server.url == "http://[::1]:\(server.port)")
    #expect(try await curl("-g", server.url).output == "six")
  }

  @Test func `curl uploads and is redirected`() async throws {
    let server = try LoopbackServer { .ok($0.bodyText) }
    server.enqueue(.redirect(to: "/there", status: 307))
    let result = try await curl("-L", "-H", "Transfer-Encoding: chunked", "-d", "a=b", server.url)
    #expect(result.output == "a=b")
    #expect(server.requests.map(\.target) == ["/", "/there"])
    #expect(server.connectionCount == 1)
  }

  @Test func `curl cannot reach a refusing port`() async throws {
    let nobody = try RefusingPort()
    #expect(try await curl("-g", nobody.url).status == 7)
  }
}
