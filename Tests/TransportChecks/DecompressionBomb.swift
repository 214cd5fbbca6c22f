package import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A small body that expands to gigabytes. Calls to another server over the same transport must keep their deadlines.
package struct DecompressionBomb: Sendable {
  /// How the body is received: as the body of a success, of an error, of a response that a sink rejects, of a download,
  /// or with two content codings.
  package enum Attack: String, CaseIterable, Sendable { case ok, error, refused, download, layered }

  /// Every four bytes expand to 128 KiB of zeros (RFC 8878 section 3.1.1.2: blocks of one repeated byte).
  package static let zstd: [UInt8] =
    [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38] + (0..<65_536).flatMap { _ in [0x02, 0x00, 0x10, 0x00] as [UInt8] }

  private let attack: Attack
  private let layered: [UInt8]

  /// - Parameter layered: ``zstd`` in the coding zstd.
  package init(_ attack: Attack, layered: [UInt8]) {
    self.attack = attack
    self.layered = layered
  }

  private func exchange(_ url: String, _ call: CallState) throws -> Exchange {
    let sink: RecordingSink? =
      switch attack {
      case .ok, .error, .layered: nil
      case .refused: RecordingSink(keeps: false) { _ in .memory(limit: 8 << 30) }
      case .download: RecordingSink(keeps: false)
      }
    let limits = ResponseLimits(bodyBytes: 8 << 30, expansion: nil)
    return Exchange(request: try HTTPRequest(url: url), call: call, limits: limits, sink: sink)
  }

  /// Checks that calls to another server end while the body is decoded.
  package func check(_ transport: any Transport) async throws {
    let answer = LoopbackAnswer.data(
      attack == .layered ? layered : Self.zstd, status: attack == .error || attack == .refused ? 500 : 200
    )
    .setting("Content-Encoding", to: attack == .layered ? "zstd, zstd" : "zstd")
    let server = try LoopbackServer { _ in answer }
    let healthy = try LoopbackServer { _ in .ok("fine") }
    let timers = try #require(transport.timers)
    let attacker = CallState(deadline: nil, timers: timers)
    let exchange = try exchange(server.url, attacker)
    let isOver = Recorded<Bool>()
    let task = Task {
      defer { isOver.append(true) }
      return try await transport.send(exchange)
    }
    defer { attacker.stop(.cancelled) }
    try await server.wait { $0.requests.count == 1 }
    for _ in 0..<5 {
      let call = CallState(deadline: timers.now.advanced(by: .seconds(60)), timers: timers)
      let response = try await transport.send(Exchange(request: HTTPRequest(url: healthy.url), call: call))
      #expect(response.body == Data("fine".utf8))
    }
    #expect(isSanitized || isOver.all.isEmpty, "the other calls did not wait for the end of the body")
    attacker.stop(.cancelled)
    _ = await task.result
  }
}
