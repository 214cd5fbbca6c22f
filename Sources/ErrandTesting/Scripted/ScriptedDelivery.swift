import ErrandCore
import Foundation

/// Brings a body into memory or into the exchange's sink, pauses included.
struct ScriptedDelivery {
  private static let pieceSize = 16_384

  private let exchange: Exchange
  private let flow = PausableFlow()

  init(_ exchange: Exchange) { self.exchange = exchange }

  /// Returns what is kept in memory.
  func deliver(_ body: Data, head: ResponseHead, breakage: TransportFailure?) async throws -> Data {
    var kept = Data()
    switch try exchange.sink?.begin(head, flow: BodyFlow { [flow] in flow.resume() }) {
    case nil:
      let limit = exchange.limits.bodyBytes
      guard body.count <= limit || StatusRule.mayBeCut(head.status) else { throw TransportFailure.bodyTooLarge(limit) }
      kept = body.prefix(limit)
    case .memory(let limit): kept = body.prefix(limit)
    case .discard: break
    case .sink:
      try await write(body, to: exchange.sink)
      if breakage == nil { try exchange.sink?.end() }
    }
    if let breakage { throw breakage }
    return kept
  }

  private func write(_ body: Data, to sink: (any BodySink)?) async throws {
    guard let sink else { return }
    var rest = body
    while !rest.isEmpty {
      flow.pause()
      let piece = rest.prefix(Self.pieceSize)
      rest = rest.dropFirst(piece.count)
      if try !piece.withUnsafeBytes({ try sink.write($0) }) { try await flow.wait(exchange.call) }
    }
  }
}
