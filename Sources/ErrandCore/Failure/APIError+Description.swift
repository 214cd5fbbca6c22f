import ErrandSupport
public import Foundation

extension APIError: Masked, LocalizedError {
  /// One line for logs: stage, code, message, request and number of attempts; secrets are masked.
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

  /// The ``message`` of the error, a sentence for people.
  public var errorDescription: String? { message }

  /// No secrets and no bodies.
  package var shownParts: KeyValuePairs<String, Any> {
    [
      "stage": stage.rawValue, "code": code.rawValue, "message": message, "request": request?.description ?? "none",
      "response": response?.description ?? "none", "attempts": attempts,
    ]
  }
}

extension APIError {
  /// Whether the call ended because the caller cancelled it or its account was logged out.
  public var isCancelled: Bool { stage == .cancelled }

  /// The kind of the transport failure; nil if the call did not fail in the stage `transport`.
  public var transportKind: TransportFailure.Kind? {
    stage == .transport ? TransportFailure.Kind(rawValue: code.rawValue) : nil
  }

  /// The error of a call that was stopped. `limit` is the total time-out of the call; nil if it is unknown.
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

  /// The error of a call that finds the queue of waiting calls full. `limit` is the largest number of waiting calls.
  static func queueFull(_ limit: Int) -> APIError {
    APIError(
      .admission, .queueFull,
      "The queue is full (\(limit) calls waiting), so the request was not sent; start fewer calls at a time, or raise `admission.waiting`."
    )
  }

  static func build(_ code: Code, _ message: String, cause: (any Error)? = nil) -> APIError {
    APIError(.build, code, message, cause: cause)
  }

  /// The error of code of the app that failed while the request was built; an ``APIError`` is used unchanged. `clause`
  /// names the code, such as "a URL filter failed".
  static func build(_ code: Code, _ clause: String, from error: any Error) -> APIError {
    error as? APIError ?? .build(code, sentence("\(clause): \(AppErrorText.of(error))"), cause: error)
  }

  /// The error for a state that only a fault of the library can cause. `sentence` describes the state.
  static func fault(_ stage: Stage, _ code: Code, _ sentence: String) -> APIError {
    APIError(
      stage, code,
      "\(sentence) This is a fault of Errand, not of your request; please report it to the maintainers, with the "
        + "client's log of the call.")
  }

  /// Converts an error that was thrown inside the pipeline into the error that the caller receives.
  package static func mapping(_ error: any Error, as stage: Stage) -> APIError {
    switch error {
    case let error as APIError: return error
    case let stopped as CallState.Stopped: return .stopped(stopped.reason)
    case let failure as TransportFailure:
      return APIError(.transport, Code(failure.kind), sentence(failure.description), cause: failure)
    case let failure as SinkFailure:
      let clause = "the destination of the body failed: \(AppErrorText.of(failure.cause))"
      return APIError(.transport, .sink, sentence(clause), cause: failure.cause)
    case let failure as BodySourceFailure:
      return APIError(.transport, .bodySource, sentence(failure.description), cause: failure.cause)
    case is CancellationError: return .stopped(.cancelled)
    default:
      let code: Code =
        switch stage {
        case .authorize: .noCredential
        case .transport: .other
        case .decode: .decoding
        default: .interceptor
        }
      return APIError(stage, code, sentence("\(culprit(of: stage)): \(AppErrorText.of(error))"), cause: error)
    }
  }

  /// A clause that names the failed part of the pipeline, such as "the transport failed". The message of an error of an
  /// unknown type begins with this clause.
  private static func culprit(of stage: Stage) -> String {
    switch stage {
    case .interceptor: "an interceptor failed"
    case .authorize: "the credential provider failed"
    case .transport: "the transport failed"
    default: "the \(stage.rawValue) stage failed"
    }
  }

  /// Describes why a value could not be encoded. Of an `EncodingError`, only the coding path and the reason are used,
  /// because the error also contains the value, which may be a secret.
  static func writingClause(_ error: any Error) -> String {
    guard case EncodingError.invalidValue(_, let context) = error else { return AppErrorText.of(error) }
    let failure = FormatFailure(
      .mismatch, context.debugDescription, path: FormatFailure.path("", context.codingPath))
    return failure.description
  }

  /// Turns a clause into a sentence: capitalises its first letter, unless it begins with a URL, and ends it with a full
  /// stop, unless it already ends like a sentence.
  package static func sentence(_ clause: String) -> String {
    let isURL = clause.hasPrefix("http://") || clause.hasPrefix("https://")
    return ended(isURL ? clause : clause.prefix(1).uppercased() + clause.dropFirst())
  }

  /// The text with a full stop at its end, unless it already ends like a sentence.
  static func ended(_ text: String) -> String {
    text.last.map { ".!?…。！？".contains($0) } == true ? text : text + "."
  }

  /// The sentence that adds a message of the server to a message, after a space.
  static func serverSentence(_ text: String) -> String { " Message of the server: \(ended(words(text)))" }

  /// Prepares a text from the server for a message: on one line, without control characters, and with at most `most`
  /// Unicode scalars. A character may contain any number of combining scalars, so the number of characters would be no
  /// limit.
  static func words(_ text: String, most: Int = 300) -> String {
    let words = Redaction.visible(String(text.unicodeScalars.prefix(most + 1))).unicodeScalars
    return words.count > most ? String(words.prefix(most)) + "…" : String(words)
  }
}

extension ResponseHead {
  /// The reason phrase as a part of an error message, after a space; empty if there is none.
  var shownReason: String { reason.isEmpty ? "" : " \(APIError.words(reason))" }
}

extension HTTPFields {
  /// The content type as a part of an error message.
  var shownContentType: String {
    self[.contentType].map { "the content type \"\(APIError.words($0))\"" } ?? "no content type"
  }
}

/// Wraps an error that a `BodySink`, the destination of a response body, threw.
struct SinkFailure: Error {
  let cause: any Error
}
