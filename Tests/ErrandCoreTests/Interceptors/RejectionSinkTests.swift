@testable import ErrandCore
import Testing

/// Which responses count as rejections of a credential if the body goes to a sink.
struct RejectionSinkTests {
  private struct Open: BodySink {
    func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) throws -> Bool { true }
    func end() throws {}
  }

  private static func response(_ status: Int) throws -> HTTPResponse {
    HTTPResponse(head: ResponseHead(status: status), url: try HTTPURL("http://h.example/"))
  }

  @Test func `rejection is taken once`() throws {
    let sink = RejectionSink(Open()) { $0.status == 200 }
    let rejection = try Self.response(200)
    #expect(try sink.begin(rejection.head, flow: BodyFlow {}) == .memory(limit: GuardedSink.refusedLimit))
    #expect(!sink.hasBegun && sink.takeRejection(by: rejection))
    #expect(!sink.takeRejection(by: rejection))
  }

  /// An exchange interceptor sent the request again. The call does not accept the second response, so that response did
  /// not arrive at the sink.
  @Test func `later response is no rejection`() throws {
    let sink = RejectionSink(Open()) { _ in true }
    _ = try sink.begin(ResponseHead(status: 200), flow: BodyFlow {})
    let later = try Self.response(503)
    #expect(!sink.takeRejection(by: later))
  }

  @Test func `accepted response begins the sink`() throws {
    let sink = RejectionSink(Open()) { $0.status == 200 }
    let accepted = try Self.response(206)
    #expect(try sink.begin(accepted.head, flow: BodyFlow {}) == .sink)
    #expect(sink.hasBegun && !sink.takeRejection(by: accepted))
  }
}
