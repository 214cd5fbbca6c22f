import Errand
import ErrandCurl
import ErrandEngine
import ErrandHTTP
import Foundation

/// A process that runs one scenario and prints the largest growth of its memory in bytes, then the result: `answer`, or
/// the error code. Usage: `MemoryProbe MODE URL [FILE]`.
@main
enum MemoryProbe {
  private struct Put: APIRequest {
    let body: RequestBody?
    var path: Path { "/probe" }
    var method: HTTPMethod { .put }
    var timeouts: Timeouts { Timeouts(total: .never) }
    typealias Response = Nothing
  }

  private struct Get: APIRequest {
    var path: Path { "/flood" }
    typealias Response = Data
  }

  /// A given number of zeros in pieces of 64 KiB, each created on demand.
  private struct Zeros: AsyncSequence, AsyncIteratorProtocol {
    var left: Int

    mutating func next() async -> Data? {
      let count = Swift.min(left, 64 << 10)
      left -= count
      return count > 0 ? Data(count: count) : nil
    }

    func makeAsyncIterator() -> Zeros { self }
  }

  /// The same zeros as a body source of the transport.
  private final class ZeroSource: BodySource {
    private var left: Int

    init(_ count: Int) { left = count }

    func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
      let count = min(left, room.count)
      guard count > 0 else { return .end }
      room.prefix(count).initializeMemory(as: UInt8.self, repeating: 0)
      left -= count
      return .bytes(count)
    }
  }

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count >= 3 else { exit(64) }
    if words[1].hasPrefix("exit"), words.count == 5 {
      try await exitBusy(words[2], authority: words[3], carrier: words[4], isLate: words[1] == "exit-late")
    }
    let client = APIClient(baseURL: words[2])
    _ = try await client.send(Put(body: .text("warm")))
    let before = try peak()
    let end = await end(of: words[1], words.count > 3 ? URL(filePath: words[3]) : nil, client)
    print(try peak() - before)
    print(end)
  }

  /// Ends the process while a transport uses OpenSSL. That transport has its own authority and was created before any
  /// other. If `isLate` is true, another part of the process has used OpenSSL before the transport.
  private static func exitBusy(_ url: String, authority: String, carrier: String, isLate: Bool) async throws -> Never {
    // This handler is registered first, so it runs last. OpenSSL refuses to initialise again after it has freed its
    // resources.
    atexit {
      typealias Initialize = @convention(c) (UInt64, UnsafeRawPointer?) -> Int32
      let baseOnly: UInt64 = 0x0004_0000
      guard let symbol = dlsym(nil, "OPENSSL_init_crypto") else { return }
      // The type is that of <openssl/crypto.h>. The probe does not link OpenSSL itself.
      if unsafeBitCast(symbol, to: Initialize.self)(baseOnly, nil) != 1 { _exit(70) }
    }
    if isLate { useLibcurl() }
    let client = APIClient(baseURL: url)
    let transport = try transport(on: carrier, authority: .file(path: authority))
    client.configure { $0.transport = .own(transport) }
    _ = CurlTransport().timers
    _ = try await client.send(Get())
    for _ in 0..<16 { client.start(Get()) { _ in } }
    exit(0)
  }

  /// Initialises libcurl, and so OpenSSL, as URLSession does at its first request.
  private static func useLibcurl() {
    typealias Initialize = @convention(c) () -> UnsafeMutableRawPointer?
    guard let symbol = dlsym(nil, "curl_easy_init") else { _exit(71) }
    // The type is that of <curl/easy.h>.
    if unsafeBitCast(symbol, to: Initialize.self)() == nil { _exit(72) }
  }

  private static func transport(on carrier: String, authority: CertificateAuthority) throws -> any Transport {
    if carrier == "engine" {
      var settings = EngineConfiguration()
      settings.certificateAuthority = authority
      return try EngineTransport(settings)
    }
    var settings = CurlConfiguration()
    settings.certificateAuthority = authority
    return try CurlTransport(settings)
  }

  private static func end(of mode: String, _ file: URL?, _ client: APIClient) async -> String {
    do throws(APIError) {
      switch (mode, file) {
      // Memory that one round leaves behind must not add to the next round.
      case ("memory", _): for round in 1...3 { try await fill(client, isLast: round == 3) }
      case ("stream", _): for try await _ in try await client.stream(Get()) {}
      case ("lines", _): for try await _ in try await client.stream(Get()).lines {}
      case ("file", let file?): _ = try await client.send(Put(body: .file(file)))
      case ("form", let file?): _ = try await client.send(Put(body: .multipart([.text("a", "b"), .file("f", file)])))
      case ("pieces", let file?): _ = try await client.send(Put(body: .pieces(Zeros(left: length(file)))))
      case ("source", let file?):
        let length = length(file)
        _ = try await client.send(Put(body: .stream { _ in ZeroSource(length) }))
      case ("gzip", let file?): _ = try await client.send(Put(body: .file(file).compressed(.gzip(level: 1))))
      default: exit(64)
      }
      return "answer"
    } catch {
      return error.code.rawValue
    }
  }

  private static func length(_ file: URL) -> Int {
    (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
  }

  private static func fill(_ client: APIClient, isLast: Bool) async throws(APIError) {
    let outcome = await client.outcome(of: Get())
    if isLast, let error = outcome.error { throw error }
  }

  /// The peak resident memory so far, in bytes.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1_024
  }
}
