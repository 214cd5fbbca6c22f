@testable import ErrandCore
import Foundation
import Testing

/// Whether a failed refresh proves that the credential is invalid.
struct RefreshFailureTests {
  private static func transport(_ kind: TransportFailure.Kind) -> APIError {
    .mapping(TransportFailure(kind, "It failed."), as: .transport)
  }

  private static func answer(
    _ stage: APIError.Stage, _ code: APIError.Code, status: Int = 200, _ type: String = "application/json"
  ) -> APIError {
    APIError(stage, code, "No.").with {
      let head = ResponseHead(status: status, fields: HTTPFields([HTTPField(.contentType, type)]))
      $0.response = (try? HTTPRequest(url: "http://h.example/")).map { HTTPResponse(head: head, url: $0.url) }
    }
  }

  @Test(
    arguments: [
      transport(.offline), transport(.tls), transport(.unknownAuthority), transport(.proxy), transport(.tooLarge),
      transport(.malformedResponse), APIError(.redirect, .redirectRefused, "No."),
      APIError(.deadline, .deadline, "Late."), APIError.stopped(.cancelled),
      APIError(.admission, .queueFull, "Full."), APIError(.admission, .circuitOpen, "Open."),
      answer(.validate, .status, status: 500), answer(.validate, .status, status: 408),
      answer(.validate, .status, status: 429), answer(.validate, .contentType, "text/html"),
      answer(.validate, .notJSON), answer(.decode, .decoding, "text/html; charset=utf-8"),
      answer(.decode, .decoding, "application/xhtml+xml"),
    ]) func `unreachable token server keeps the credential`(error: APIError)
  {
    #expect(error.leavesCredential)
  }

  @Test(
    arguments: [
      answer(.validate, .status, status: 400), answer(.validate, .status, status: 401),
      answer(.validate, .status, status: 404), answer(.validate, .business), answer(.validate, .shape),
      answer(.decode, .decoding), APIError(.admission, .repeated, "Again."),
      APIError(.interceptor, .interceptor, "No."),
      APIError(.build, .parameter, "No."), APIError(.validate, .status, "No status."),
    ]) func `rejected refresh invalidates the credential`(error: APIError)
  {
    #expect(!error.leavesCredential)
  }
}
