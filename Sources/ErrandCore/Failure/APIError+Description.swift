public import Foundation

extension APIError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, LocalizedError {
  /// One line for logs: stage, code, sentence, request and attempts; secrets masked.
  public var description: String {
    var line = "\(stage.rawValue)/\(code): \(message)"
    if let request {
      line += " [\(request)"
      if let status { line += " → \(status)" }
      line += attempts > 1 ? ", \(attempts) attempts]" : "]"
    }
    for member in members { line += " (\(member))" }
    return Redaction.visible(line)
  }

  /// One line for logs, secrets masked.
  public var debugDescription: String { description }

  /// The sentence for people.
  public var errorDescription: String? { message }

  /// What a dump shows: no secrets and no bodies.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "stage": stage.rawValue, "code": code.rawValue, "message": message, "request": request?.description ?? "none",
        "response": response?.description ?? "none", "attempts": attempts,
      ],
      displayStyle: .struct)
  }
}

extension APIError {
  /// Whether the call ended because somebody wanted it to.
  public var isCancelled: Bool { stage == .cancelled }

  /// The kind of a failure on the wire; nil for other stages.
  public var transportKind: TransportFailure.Kind? {
    stage == .transport ? TransportFailure.Kind(rawValue: code.rawValue) : nil
  }

  /// The error of a call that was stopped; `limit` is its total time-out, where that is known.
  static func stopped(_ reason: CallState.StopReason, limit: Duration? = nil) -> APIError {
    switch reason {
    case .cancelled: APIError(.cancelled, .cancelled, "The call was cancelled.")
    case .expired:
      APIError(
        .deadline, .deadline,
        "The call did not end within its total time-out\(limit.map { " of \($0)" } ?? ""); raise `timeouts.total` to wait longer."
      )
    }
  }

  /// The error of a call for whom the queue has no place.
  static func queueFull(_ limit: Int) -> APIError {
    APIError(
      .admission, .queueFull,
      "As many calls wait already as may wait (\(limit)), so the request was not sent; start fewer at a time, or raise `admission.waiting`."
    )
  }

  static func build(_ code: Code, _ message: String, cause: (any Error)? = nil) -> APIError {
    APIError(.build, code, message, cause: cause)
  }

  /// What an error thrown inside the line means to the caller.
  package static func mapping(_ error: any Error, as stage: Stage) -> APIError {
    switch error {
    case let error as APIError: return error
    case let stopped as CallState.Stopped: return .stopped(stopped.reason)
    case let failure as TransportFailure:
      return APIError(
        .transport, Code(rawValue: failure.kind.rawValue), sentence(failure.description), cause: failure)
    case let failure as SinkFailure:
      let clause = "what the body was written to refused it: \(failure.cause)"
      let code = Code(rawValue: TransportFailure.Kind.sink.rawValue)
      return APIError(.transport, code, sentence(clause), cause: failure.cause)
    case let failure as BodySourceFailure:
      let code = Code(rawValue: TransportFailure.Kind.bodySource.rawValue)
      return APIError(.transport, code, sentence(failure.description), cause: failure.cause)
    case is CancellationError: return .stopped(.cancelled)
    default:
      let code: Code =
        switch stage {
        case .authorize: .noCredential
        case .transport: Code(rawValue: TransportFailure.Kind.other.rawValue)
        case .decode: .decoding
        default: .interceptor
        }
      return APIError(stage, code, sentence("\(culprit(of: stage)): \(error)"), cause: error)
    }
  }

  /// Whose error it was, where it says nothing of itself.
  private static func culprit(of stage: Stage) -> String {
    switch stage {
    case .interceptor: "an interceptor failed"
    case .authorize: "the credential could not be had"
    case .transport: "the transport failed"
    default: "the \(stage.rawValue) stage failed"
    }
  }

  /// What a format says of a value that it cannot write. An encoder's error is told by place and reason alone: the
  /// value may be a secret.
  static func writingClause(_ error: any Error) -> String {
    guard case EncodingError.invalidValue(_, let context) = error else { return "\(error)" }
    let failure = FormatFailure(
      .mismatch, context.debugDescription, path: FormatFailure.path("", context.codingPath))
    return failure.description
  }

  /// A clause as a sentence: a capital at its head, unless that is a URL, and a full stop at its end, unless it ends as
  /// a sentence does already.
  static func sentence(_ clause: String) -> String {
    let isURL = clause.hasPrefix("http://") || clause.hasPrefix("https://")
    return ended(isURL ? clause : clause.prefix(1).uppercased() + clause.dropFirst())
  }

  /// A text with a full stop at its end, unless it ends as a sentence does already.
  static func ended(_ text: String) -> String {
    text.last.map { ".!?…。！？".contains($0) } == true ? text : text + "."
  }

  /// A server's words in a sentence: on one line, and no more of them than somebody reads.
  static func words(_ text: String) -> String {
    let words = Redaction.visible(String(text.prefix(mostLetters + 1)))
    return words.count > mostLetters ? words.prefix(mostLetters) + "…" : words
  }

  private static let mostLetters = 300
}

/// What a sink threw.
struct SinkFailure: Error {
  let cause: any Error
}
