import Errand
import ErrandCore
import ErrandTesting
import TestSupport
import Testing

/// Calls to a healthy server, while another server sends HTTP/2 frames over TLS as fast as it can.
struct FloodDeadlineTests {
  @Test(arguments: TrustCarrier.allCases)
  func `TLS frame flood delays no deadline`(carrier: TrustCarrier) async throws {
    let url = try Servers.address("ERRAND_DOOR_FLOOD")
    let healthy = try LoopbackServer { _ in .ok("fine") }
    let transport = try carrier.transport { settings in
      settings.certificateAuthority = .file(path: try TrustFixture.path("ca.pem"))
      settings.httpVersion = .http2
    }
    let timers = try #require(transport.timers)
    let begun = timers.now
    let attacked = CallState(deadline: begun.advanced(by: .seconds(3)), timers: timers)
    let exchange = Exchange(request: try HTTPRequest(url: url), call: attacked)
    let isOver = Recorded<Bool>()
    let attack = Task {
      defer { isOver.append(true) }
      return try await transport.send(exchange)
    }
    // The flood has no end. If it kept the transport's thread busy, no call would end within any time. The limits leave
    // room for a busy machine, on which the threads wait for a processor.
    repeat {
      let begun = timers.now
      let call = CallState(deadline: begun.advanced(by: .seconds(30)), timers: timers)
      let response = try await transport.send(Exchange(request: HTTPRequest(url: healthy.url), call: call))
      #expect(response.body.elementsEqual("fine".utf8))
      #expect(isSanitized || begun.duration(to: timers.now) < .seconds(10))
    } while isOver.count == 0
    let result = await attack.result
    #expect(throws: (any Error).self) { try result.get() }
    #expect(isSanitized || begun.duration(to: timers.now) < .seconds(30))
  }
}
