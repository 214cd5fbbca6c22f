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

extension ScriptedAnswer {
  /// The answer as if it came now: `Date` says so, and `Expires` is as far from it as it was. A cache would take what
  /// was recorded long ago for as old as it is, and a test would fail by the calendar.
  func movedToPresent(_ now: Int64 = Int64(Date.now.timeIntervalSince1970 * 1_000)) -> ScriptedAnswer {
    guard let date = Self.milliseconds(of: head.fields[.date], now), date < now else { return self }
    var answer = self
    answer.head.fields[.date] = HTTPDate.text(milliseconds: now)
    if let expires = Self.milliseconds(of: head.fields["Expires"], now) {
      answer.head.fields["Expires"] = HTTPDate.text(milliseconds: now &+ (expires &- date))
    }
    return answer
  }

  private static func milliseconds(of text: String?, _ now: Int64) -> Int64? {
    text.flatMap { HTTPDate.milliseconds(of: $0, now: now) }
  }
}

extension ScriptedAnswer {
  /// Brings the fields that tell the length and the digests of the body in line with another body. Those of a coded
  /// answer are about the coded bytes, which nobody has: they stay.
  mutating func fitLength() {
    let length = String(body.count)
    guard !isCoded, head.fields.values(of: .contentLength).contains(where: { $0 != length }) else { return }
    fitChangedBody()
  }

  /// The same where the body is known to be another one, which may be as long: then no digest is right.
  mutating func fitChangedBody() {
    if !isCoded, head.fields.contains(.contentLength) { head.fields[.contentLength] = String(body.count) }
    for name in ["Content-Digest", "Repr-Digest"] as [HTTPFieldName] {
      head.fields[name] = nil
      trailers[name] = nil
    }
  }

  private var isCoded: Bool { head.fields.contains(.contentEncoding) }
}
