import Errand
import ErrandTesting
import Foundation
import Testing

/// A failure to provoke: the client's configuration, the request and the response.
struct SecretScene: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let code: APIError.Code
  var change: @Sendable (inout ClientConfiguration) -> Void = { _ in }
  var request: @Sendable (inout Sending) -> Void = { _ in }
  var answer: @Sendable (HTTPRequest) async throws -> ScriptedAnswer = { _ in .text("ok") }
  var options = CallOptions()
  /// Whether a request reaches the transport.
  var isSent = true

  static let marker = SecretTests.marker
  static let all = building + authorizing + sending + redirecting + judging

  struct Leak: Error {}
  struct Account: Encodable, Sendable { let password: String, rate: Double }
}
