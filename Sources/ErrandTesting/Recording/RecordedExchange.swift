public import ErrandCore

/// One exchange of a ``Recording``: what was asked, and what came.
public struct RecordedExchange: Sendable {
  /// What was asked. A body that was read while it was sent is bytes here.
  public var request: HTTPRequest
  /// What came: an answer, a failure, or an answer that broke off.
  public var answer: ScriptedAnswer

  /// Makes an exchange of its parts.
  public init(request: HTTPRequest, answer: ScriptedAnswer) {
    self.request = request
    self.answer = answer
  }
}

extension RecordedExchange: CustomStringConvertible {
  /// Method, URL and what came, on one line; the values of the query masked.
  public var description: String { "\(request): \(came)" }

  private var came: String {
    if let failure = answer.failure { return "failure \(failure.kind)" }
    let text = "\(answer.head.status), \(answer.body.count) bytes"
    return answer.breakage.map { "\(text), then failure \($0.kind)" } ?? text
  }
}
