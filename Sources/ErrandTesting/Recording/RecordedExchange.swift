public import ErrandCore

/// One exchange of a ``Recording``: a request and its outcome.
public struct RecordedExchange: Sendable {
  /// The request. Its body is in memory, even if the original body was streamed.
  public var request: HTTPRequest
  /// The outcome: a response, a failure, or an incomplete response with a failure.
  public var answer: ScriptedAnswer

  /// Creates an exchange from a request and its outcome.
  public init(request: HTTPRequest, answer: ScriptedAnswer) {
    self.request = request
    self.answer = answer
  }
}

extension RecordedExchange: CustomStringConvertible {
  /// The request and the outcome on one line. The values in the query of the URL are masked.
  public var description: String { "\(request): \(outcome)" }

  private var outcome: String {
    if let failure = answer.failure { return "failure \(failure.kind)" }
    let text = "\(answer.head.status), \(answer.body.count) bytes"
    return answer.breakage.map { "\(text), then failure \($0.kind)" } ?? text
  }
}
