import ErrandCore
import ErrandTesting
import Foundation
import Testing

extension TransportConformance {
  static let uploads =
    [resetWhileSending, noContinue, expectationFailed] + Self.sources

  private static let sources = [sourceArrives, sourceWaits, sourceFails, sourceKeepsLength, sourceStops]

  private static var large: Data { Data(repeating: 0x61, count: 8 << 20) }

  private static func post(_ url: String, _ body: Data) throws -> HTTPRequest {
    try HTTPRequest(method: .post, url: url, body: HTTPBody(body))
  }

  private static let resetWhileSending = Check("reset while sending is a failure") { transport in
    let server = try LoopbackServer()
    server.enqueue(.resetBeforeAnswer, reception: .never)
    let failure = await failure(of: Exchange(request: try post(server.url, large)), over: transport)
    #expect(failure.map { [.closedBeforeResponse, .reset].contains($0.kind) } == true)
    #expect(failure?.isCertainlyNotSent == false)
    server.enqueue(.ok("next"))
    #expect(try await get(transport, server.url).text == "next")
  }

  private static let noContinue = Check("upload does not wait for 100-continue") { transport in
    let server = try LoopbackServer()
    server.enqueue(.ok("taken"), reception: .withoutContinue)
    let response = try await transport.send(Exchange(request: try post(server.url, large)))
    #expect(response.text == "taken")
    let seen = try await server.request(number: 1)
    #expect(seen.headers["Expect"] == nil)
    #expect(seen.bodyLength == large.count)
  }

  private static let expectationFailed = Check("417 is delivered once") { transport in
    let server = try LoopbackServer { _ in .status(417) }
    let response = try await transport.send(Exchange(request: try post(server.url, Data("x".utf8))))
    #expect(response.status == 417)
    #expect(server.requests.count == 1)
  }

  // MARK: - Bodies from a source

  /// A request with a source as its body, and a log of how often the source was opened and released.
  private static func post(
    _ url: String, _ steps: [PieceSource.Step], length: Int64? = nil, log: PieceSource.Log = PieceSource.Log()
  ) throws -> Exchange {
    let body = HTTPBody.stream(length: length) { flow in
      PieceSource(steps, log, flow) { flow in Thread.detachNewThread { flow.resume() } }
    }
    return Exchange(request: try HTTPRequest(method: .post, url: url, body: body))
  }

  private static let sourceArrives = Check("source arrives complete and in order", needs: .bodySource) { transport in
    let server = try LoopbackServer { _ in .ok("taken") }
    let long = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for (number, pieces) in [[[1, 2], [3], [4, 5, 6]], [long, [7], long], []].enumerated() {
      for length in [Int64(pieces.joined().count), nil] {
        let log = PieceSource.Log()
        let exchange = try post(server.url, pieces.map { .bytes($0) }, length: length, log: log)
        #expect(try await transport.send(exchange).text == "taken")
        #expect(try await server.request(number: server.requests.count).body == Array(pieces.joined()), "\(number)")
        #expect(log.opened == 1 && log.closed == 1)
      }
    }
  }

  private static let sourceWaits = Check("source may have no data yet", needs: .bodySource) { transport in
    let server = try LoopbackServer { _ in .ok("taken") }
    let steps: [PieceSource.Step] = [.later, .bytes([1, 2]), .later, .later, .bytes([3, 4]), .later]
    #expect(try await transport.send(post(server.url, steps)).text == "taken")
    #expect(try await server.request(number: 1).body == [1, 2, 3, 4])
  }

  private static let sourceFails = Check("error of a source ends the exchange", needs: .bodySource) { transport in
    let server = try LoopbackServer { _ in .ok("taken") }
    let long = [UInt8](repeating: 1, count: 600_000)
    for steps: [PieceSource.Step] in [[.fail], [.bytes([1]), .fail], [.bytes(long), .fail]] {
      let log = PieceSource.Log()
      let exchange = try post(server.url, steps, log: log)
      let failure = await #expect(throws: BodySourceFailure.self) { try await transport.send(exchange) }
      #expect(failure?.cause is PieceSource.Fault)
      #expect(log.closed == log.opened)
    }
    #expect(server.requests.isEmpty)
  }

  private static let sourceKeepsLength = Check("source must match its length", needs: .bodySource) { transport in
    let server = try LoopbackServer { _ in .ok("taken") }
    for length in [Int64(2), 4] {
      let exchange = try post(server.url, [.bytes([1]), .bytes([2]), .bytes([3])], length: length)
      #expect(await failure(of: exchange, over: transport)?.kind == .bodyChanged)
    }
    #expect(server.requests.isEmpty)
  }

  private static let sourceStops = Check("stop ends a waiting source", needs: .bodySource) { transport in
    let server = try LoopbackServer { _ in .ok("taken") }
    let (log, call) = (PieceSource.Log(), CallState())
    let body = HTTPBody.stream { flow in
      PieceSource([.bytes([1]), .later, .bytes([2])], log, flow) { _ in call.stop(.cancelled) }
    }
    let request = try HTTPRequest(method: .post, url: server.url, body: body)
    #expect(await stop(of: Exchange(request: request, call: call), over: transport) == .cancelled)
    #expect(server.requests.isEmpty)
  }
}
