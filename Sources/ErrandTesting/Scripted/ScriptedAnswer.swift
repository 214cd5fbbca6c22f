public import ErrandCore
public import Foundation

/// What a ``ScriptedTransport`` answers.
public struct ScriptedAnswer: Sendable {
  /// Status and fields.
  public var head: ResponseHead
  /// The body.
  public var body: Data
  /// Fields behind the body.
  public var trailers = HTTPFields()
  /// Informational answers that come first.
  public var informational: [ResponseHead] = []
  /// A failure in place of the answer.
  public var failure: TransportFailure?
  /// A failure in place of the body's end: a sink has been given ``body`` by then.
  public var breakage: TransportFailure?

  /// Makes an answer.
  public init(status: Int = 200, fields: HTTPFields = HTTPFields(), body: Data = Data()) {
    head = ResponseHead(status: status, fields: fields)
    self.body = body
  }

  /// A text. Its content type is plain text where the fields name none.
  public static func text(_ text: String, status: Int = 200, fields: HTTPFields = HTTPFields()) -> ScriptedAnswer {
    typed("text/plain; charset=utf-8", text, status, fields)
  }

  /// A JSON text. Its content type is JSON's where the fields name none.
  public static func json(_ text: String, status: Int = 200, fields: HTTPFields = HTTPFields()) -> ScriptedAnswer {
    typed("application/json", text, status, fields)
  }

  private static func typed(
    _ type: String, _ text: String, _ status: Int, _ fields: HTTPFields
  ) -> ScriptedAnswer {
    var fields = fields
    if !fields.contains(.contentType) { fields.append(HTTPField(.contentType, type)) }
    return ScriptedAnswer(status: status, fields: fields, body: Data(text.utf8))
  }

  /// A status without a body.
  public static func status(_ status: Int, fields: HTTPFields = HTTPFields()) -> ScriptedAnswer {
    ScriptedAnswer(status: status, fields: fields)
  }

  /// A redirect.
  public static func redirect(to location: String, status: Int = 302) -> ScriptedAnswer {
    ScriptedAnswer(status: status, fields: ["Location": location])
  }

  /// A failure of the transport.
  public static func failure(_ kind: TransportFailure.Kind, _ text: String = "scripted failure") -> ScriptedAnswer {
    var answer = ScriptedAnswer()
    answer.failure = TransportFailure(kind, text)
    return answer
  }

  /// The same answer, which breaks off where its body would end.
  public func breakingOff(
    _ kind: TransportFailure.Kind = .reset, _ text: String = "scripted break"
  ) -> ScriptedAnswer {
    var answer = self
    answer.breakage = TransportFailure(kind, text)
    return answer
  }
}
