import ErrandCore
import Foundation

/// Brings a body into memory or into the exchange's sink, pauses included.
struct ScriptedDelivery {
  private static let pieceSize = 16_384

  private let exchange: Exchange
  private let flow = PausableFlow()

  init(_ exchange: Exchange) { self.exchange = exchange }

  /// Returns what is kept in memory.
  func deliver(_ body: Data, head: ResponseHead) async throws -> Data {
    guard let sink = exchange.sink else { return try limited(body, exchange.limits.bodyBytes) }
    switch try sink.begin(head, flow: BodyFlow { [flow] in flow.resume() }) {
    case .memory(let limit): return try limited(body, limit)
    case .discard: return Data()
    case .sink:
      try await write(body, to: sink)
      try sink.end()
      return Data()
    }
  }

  private func write(_ body: Data, to sink: any BodySink) async throws {
    var rest = body
    while !rest.isEmpty {
      flow.pause()
      let piece = rest.prefix(Self.pieceSize)
      rest = rest.dropFirst(piece.count)
      if try !piece.withUnsafeBytes({ try sink.write($0) }) { try await flow.wait(exchange.call) }
    }
  }

  private func limited(_ body: Data, _ limit: Int) throws -> Data {
    guard body.count <= limit else {
      throw TransportFailure(.tooLarge, "the body is larger than the limit of \(limit) bytes")
    }
    return body
  }
}
