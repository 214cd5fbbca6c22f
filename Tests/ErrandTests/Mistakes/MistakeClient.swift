import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A client for the tests of beginners' mistakes. `Scripts/mistakes.py` makes the guide page "Mistakes" from these tests:
/// each test has a mistake between the comments "The mistake:" and "What Errand says:", followed by one of the
/// functions below with the sentence.
struct MistakeClient {
  private let client: APIClient
  private let lines = Recorded<LogLine>()

  /// Uses the client that a mistake has made.
  init(_ client: APIClient) {
    self.client = client
    let lines = lines
    client.configure { $0.log = { lines.append($0) } }
  }

  /// Makes a client whose server has one response for everything.
  init(_ answer: ScriptedAnswer = .json("{}"), change: (inout ClientConfiguration) -> Void = { _ in }) {
    self.init(ScriptedClient(baseURL: "https://api.example.com", change) { _ in answer }.client)
  }

  /// Expects the message of the error of a request. The names and ports of servers of the tests are replaced.
  func says(
    _ code: APIError.Code, to request: some APIRequest, options: CallOptions = CallOptions(), _ message: String,
    at location: SourceLocation = #_sourceLocation
  ) async {
    let error = await client.outcome(of: request, options: options).error
    #expect(
      error.map { $0.message.replacing(/localhost:\d+/, with: "localhost:8080") } == message, sourceLocation: location)
    #expect(error?.code == code, sourceLocation: location)
  }

  /// Expects one warning, which the first call of a request type writes in a debug build.
  func warns(
    about request: some APIRequest, _ warning: String, at location: SourceLocation = #_sourceLocation
  ) async {
    for _ in 0..<2 { _ = await client.outcome(of: request) }
    let warnings = lines.all.filter { $0.level == .warning }.map(\.text)
    #expect(warnings == (isDebugBuild ? [warning] : []), sourceLocation: location)
  }
}
