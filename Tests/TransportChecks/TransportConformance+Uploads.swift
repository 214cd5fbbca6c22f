import ErrandCore
import ErrandTesting
import Foundation
import Testing

extension TransportConformance {
  static let uploads = [resetWhileSending, noContinue, expectationFailed]

  private static var large: Data { Data(repeating: 0x61, count: 8 << 20) }

  private static func post(_ url: String, _ body: Data) throws -> HTTPRequest {
    try HTTPRequest(method: .post, url: url, body: HTTPBody(body))
  }

  private static let resetWhileSending = Check("a reset while sending is told") { transport in
    let server = try LoopbackServer()
    server.enqueue(.resetBeforeAnswer, reception: .never)
    let failure = await failure(of: Exchange(request: try post(server.url, large)), over: transport)
    #expect(failure.map { [.closedBeforeResponse, .reset].contains($0.kind) } == true)
    #expect(failure?.isCertainlyNotSent == false)
    server.enqueue(.ok("next"))
    #expect(try await get(transport, server.url).text == "next")
  }

  private static let noContinue = Check("nothing waits for a 100-continue") { transport in
    let server = try LoopbackServer()
    server.enqueue(.ok("taken"), reception: .withoutContinue)
    let response = try await transport.send(Exchange(request: try post(server.url, large)))
    #expect(response.text == "taken")
    let seen = try await server.request(number: 1)
    #expect(seen.headers["Expect"] == nil)
    #expect(seen.bodyLength == large.count)
  }

  private static let expectationFailed = Check("a 417 is an answer, once") { transport in
    let server = try LoopbackServer { _ in .status(417) }
    let response = try await transport.send(Exchange(request: try post(server.url, Data("x".utf8))))
    #expect(response.status == 417)
    #expect(server.requests.count == 1)
  }
}
