import Foundation
import Testing

@testable import ErrandCore

struct APIErrorTests {
  @Test func `custom error keeps all its parts`() {
    struct Cause: Error {}
    let error = APIError(.interceptor, APIError.Code(rawValue: "closed"), "Come back tomorrow.", cause: Cause())
    #expect(error.stage == .interceptor && error.code.rawValue == "closed" && error.cause is Cause)
    #expect(error.description == "interceptor/closed: Come back tomorrow.")
    #expect(error.localizedDescription == "Come back tomorrow.")
    #expect(error.status == nil && error.attempts == 0 && error.body(as: Data.self) == nil && !error.isCancelled)
  }

  @Test(arguments: [
    (TransportFailure.Kind.refused, "nobody listens at h:1"), (.tls, "the certificate is expired."),
    (.idleTimeout, "X"),
  ])
  func `transport kinds become error codes`(kind: TransportFailure.Kind, text: String) {
    let error = APIError.mapping(TransportFailure(kind, text), as: .transport)
    #expect(error.stage == .transport && error.code.rawValue == kind.rawValue && error.transportKind == kind)
    #expect(error.message.first?.isUppercase == true && error.message.hasSuffix(".") && !error.message.hasSuffix(".."))
  }

  @Test func `internal fault asks for a report`() {
    struct Get: APIRequest {
      typealias Response = String
      var path: Path { "/" }
    }
    let metrics = CallRecord().ended(after: .zero, at: MonotonicInstant(nanoseconds: 0)).0
    let ending = Outcome<Void>(error: nil, request: nil, response: nil, origin: nil, metrics: metrics)
    let valueless = #expect(throws: APIError.self) { try TypedCall(Get()).value(of: ending) }
    for error in [valueless, APIClient.unanswered] {
      #expect(error?.message.hasPrefix("The call ended without a ") == true)
      #expect(error?.message.contains("This is a fault of Errand") == true)
      #expect(error?.message.contains("please report it") == true)
    }
  }

  @Test func `cancellation differs from expiry`() {
    #expect(APIError.mapping(CancellationError(), as: .transport).isCancelled)
    #expect(APIError.stopped(.cancelled).message == "The call was cancelled.")
    let late = APIError.stopped(.expired)
    #expect(late.stage == .deadline && late.code == .deadline && !late.isCancelled && late.transportKind == nil)
    #expect(late.message.contains("timeouts.total"))
  }

  @Test(arguments: [
    (APIError.Stage.authorize, APIError.Code.noCredential, "The credential provider failed: odd."),
    (.interceptor, .interceptor, "An interceptor failed: odd."), (.decode, .decoding, "The decode stage failed: odd."),
    (.transport, APIError.Code(rawValue: "other"), "The transport failed: odd."),
  ])
  func `other errors keep their stage`(stage: APIError.Stage, code: APIError.Code, sentence: String) {
    struct Odd: Error, CustomStringConvertible { let description = "odd" }
    let error = APIError.mapping(Odd(), as: stage)
    #expect(error.stage == stage && error.code == code && error.cause is Odd)
    #expect(error.message == sentence)
  }

  @Test(arguments: [
    ("a", "A."), ("a.", "A."), ("\"x\" is bad", "\"x\" is bad."), ("", "."), ("中", "中."),
  ])
  func `clause becomes a full sentence`(clause: String, sentence: String) {
    #expect(APIError.sentence(clause) == sentence)
  }

  @Test func `codes are stable`() throws {
    let codes: [APIError.Code] = [
      .invalidURL, .invalidPath, .invalidMethod, .invalidHeader, .invalidArgument, .invalidBody,
      .invalidChecksum, .parameter, .unsupported, .interceptor, .noCredential, .admission, .queueFull,
      .tooManyRedirects, .redirectLoop, .invalidRedirect, .redirectRefused, .status, .contentType, .shape, .notJSON,
      .business, .pageLoop, .decoding, .cancelled, .deadline,
    ]
    #expect(
      codes.map(\.rawValue).joined(separator: " ")
        == """
        invalidURL invalidPath invalidMethod invalidHeader invalidArgument invalidBody invalidChecksum parameter \
        unsupported interceptor noCredential admission queueFull tooManyRedirects redirectLoop invalidRedirect \
        redirectRefused status contentType shape notJSON business pageLoop decoding cancelled deadline
        """)
    let code = APIError.Code.status
    #expect(try JSONDecoder().decode(APIError.Code.self, from: try JSONEncoder().encode(code)) == code)
  }

  @Test func `error is one machine word large`() { #expect(MemoryLayout<APIError>.size == MemoryLayout<Int>.size) }
}
