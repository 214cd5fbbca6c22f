import ErrandCore
import Foundation

/// Reads the body of a request as a server would, and waits while the source of the body has no bytes.
struct ScriptedReception {
  private static let pieceSize = 16_384

  private let exchange: Exchange

  init(_ exchange: Exchange) { self.exchange = exchange }

  /// Reads the whole body, and returns the request with the body in memory.
  func request() async throws -> HTTPRequest {
    guard let body = exchange.request.body, body.data == nil else { return exchange.request }
    let flow = PausableFlow()
    let source = try body.open(BodyFlow { flow.resume() })
    var request = exchange.request
    request.body = HTTPBody(try await whole(source, flow))
    return request
  }

  private func whole(_ source: any BodySource, _ flow: PausableFlow) async throws -> Data {
    var whole = Data()
    while true {
      flow.pause()
      let (read, piece) = try Self.piece(of: source)
      switch read {
      case .bytes: whole.append(piece)
      case .later: try await flow.wait(exchange.call)
      case .end: return whole
      }
    }
  }

  private static func piece(of source: any BodySource) throws -> (BodyRead, Data) {
    try withUnsafeTemporaryAllocation(byteCount: pieceSize, alignment: 1) { room in
      let read = try source.read(into: room)
      if case .bytes(let count) = read { return (read, Data(room[..<count])) }
      return (read, Data())
    }
  }
}
