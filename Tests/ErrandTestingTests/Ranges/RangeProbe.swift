import Foundation

@testable import ErrandTesting

/// The response to one request to a ``RangeServer``, received without a client that validates it.
struct RangeProbe {
  let status: Int
  let fields: LoopbackHeaders
  let body: [UInt8]
  let end: RawClient.End

  /// Sends one request with fields such as `Range: bytes=1-`, and reads until the connection ends.
  init(_ server: RangeServer, path: String = "/file.bin", method: String = "GET", _ fields: String...) async throws {
    let lines = ["\(method) \(path) HTTP/1.1", "Connection: close"] + fields
    let reply = try await RawClient.exchange(server.loopback, lines.joined(separator: "\r\n") + "\r\n\r\n")
    let blank = Array("\r\n\r\n".utf8)
    let split = reply.bytes.indices.first { reply.bytes[$0...].starts(with: blank) } ?? reply.bytes.count
    let head = String(decoding: reply.bytes[..<split], as: UTF8.self).components(separatedBy: "\r\n")
    status = head.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0
    self.fields = LoopbackHeaders(
      head.dropFirst().map { line in
        let parts = line.components(separatedBy: ": ")
        return .init(parts[0], parts.dropFirst().joined(separator: ": "))
      })
    body = Array(reply.bytes.dropFirst(split + 4))
    end = reply.end
  }
}
