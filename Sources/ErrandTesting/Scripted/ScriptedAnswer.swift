public import ErrandCore
public import Foundation

/// The outcome of a request to a ``ScriptedTransport``.
public struct ScriptedAnswer: Sendable {
  /// The status and the header fields of the response.
  public var head: ResponseHead
  /// The body of the response.
  public var body: Data
  /// The trailer fields of the response.
  public var trailers = HTTPFields()
  /// The informational responses that precede the response.
  public var informational: [ResponseHead] = []
  /// The failure that the request gets instead of a response; nil if the request gets a response.
  public var failure: TransportFailure?
  /// A failure that occurs after the ``body``, instead of its end; nil if the body is complete. A sink receives the
  /// whole ``body`` before the failure.
  public var breakage: TransportFailure?

  /// Creates a response.
  public init(status: Int = 200, fields: HTTPFields = HTTPFields(), body: Data = Data()) {
    head = ResponseHead(status: status, fields: fields)
    self.body = body
  }

  /// A response with a text. If `fields` has no content type, the content type is plain text.
  public static func text(_ text: String, status: Int = 200, fields: HTTPFields = HTTPFields()) -> ScriptedAnswer {
    typed("text/plain; charset=utf-8", Data(text.utf8), status, fields)
  }

  /// A response with a JSON text. If `fields` has no content type, the content type is `application/json`.
  public static func json(_ text: String, status: Int = 200, fields: HTTPFields = HTTPFields()) -> ScriptedAnswer {
    typed("application/json", Data(text.utf8), status, fields)
  }

  /// A response with bytes. If `fields` has no content type, the content type is `contentType`.
  public static func data(
    _ bytes: some Sequence<UInt8>, contentType: String = "application/octet-stream", status: Int = 200,
    fields: HTTPFields = HTTPFields()
  ) -> ScriptedAnswer {
    typed(contentType, Data(bytes), status, fields)
  }

  private static func typed(
    _ type: String, _ body: Data, _ status: Int, _ fields: HTTPFields
  ) -> ScriptedAnswer {
    var fields = fields
    if !fields.contains(.contentType) { fields.append(HTTPField(.contentType, type)) }
    return ScriptedAnswer(status: status, fields: fields, body: body)
  }

  /// A response with a status and without a body.
  public static func status(_ status: Int, fields: HTTPFields = HTTPFields()) -> ScriptedAnswer {
    ScriptedAnswer(status: status, fields: fields)
  }

  /// A redirect. `location` is the value of the field `Location`.
  public static func redirect(to location: String, status: Int = 302) -> ScriptedAnswer {
    ScriptedAnswer(status: status, fields: ["Location": location])
  }

  /// A failure of the transport instead of a response.
  ///
  /// - Parameters:
  ///   - kind: The kind of the failure.
  ///   - text: The description of the failure.
  ///   - isCertainlyNotSent: Whether the server has certainly not received the request, so that even a POST may be sent
  ///     again. By default the kind decides, as with a real transport. The value is true for kinds whose failure
  ///     precedes the request, such as `offline`, `nameLookup`, `refused`, `connectTimeout`, `tls` and `proxy`. It is
  ///     false for other kinds, such as `idleTimeout`, `closedBeforeResponse` and `reset`.
  public static func failure(
    _ kind: TransportFailure.Kind, _ text: String = "scripted failure", isCertainlyNotSent: Bool? = nil
  ) -> ScriptedAnswer {
    var answer = ScriptedAnswer()
    answer.failure = TransportFailure(
      kind, text, isCertainlyNotSent: isCertainlyNotSent ?? kind.meansCertainlyNotSent)
    return answer
  }

  /// The response with a failure after its body. The client receives the failure instead of the end of the body.
  public func breakingOff(
    _ kind: TransportFailure.Kind = .reset, _ text: String = "scripted break"
  ) -> ScriptedAnswer {
    var answer = self
    answer.breakage = TransportFailure(kind, text)
    return answer
  }
}

extension TransportFailure.Kind {
  /// Whether a failure of this kind normally occurs before a request is sent. The kinds for client certificates are
  /// not included: with TLS 1.3 a server can reject a certificate after the request was sent.
  var meansCertainlyNotSent: Bool {
    switch self {
    case .offline, .nameLookup, .refused, .connectTimeout, .unsupported, .forbiddenAddress, .proxy, .proxyCredentials,
      .tls, .certificateExpired, .certificateNotYetValid, .certificateSelfSigned, .unknownAuthority, .wrongHost,
      .pinMismatch, .tlsVersion:
      true
    default: false
    }
  }
}

extension ScriptedAnswer {
  /// The response with the current time in `Date`. The times in `Expires`, in `Retry-After` and in the attribute
  /// `Expires` of cookies are moved by the duration between the old and the new `Date`. Without this change, a client
  /// would treat the response of an old recording as stale and its cookies as expired, and a test would fail some time
  /// after the recording.
  func movedToPresent(_ now: Int64 = Int64(Date.now.timeIntervalSince1970 * 1_000)) -> ScriptedAnswer {
    guard let date = head.fields[.date].flatMap({ HTTPDate.milliseconds(of: $0, now: now) }), date < now else {
      return self
    }
    var answer = self
    answer.head.fields[.date] = HTTPDate.text(milliseconds: now)
    answer.head.fields = HTTPFields(
      answer.head.fields.all.map { field in
        let value: String? =
          switch field.name {
          case "Expires", "Retry-After":
            HTTPDate.milliseconds(of: field.value, now: now).map { HTTPDate.text(milliseconds: $0 &+ (now &- date)) }
          case .setCookie: Self.cookie(field.value, movedBy: now &- date)
          default: nil
          }
        return value.map { HTTPField(field.name, $0, isSecret: field.isSecret) } ?? field
      })
    return answer
  }

  /// The value of a `Set-Cookie` field whose attributes `Expires` are later by a number of milliseconds. An attribute
  /// that is not a date stays unchanged.
  private static func cookie(_ text: String, movedBy span: Int64) -> String {
    let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    let moved = parts.enumerated().map { index, part -> String in
      let text = String(Substring(part))
      guard index > 0, let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return text }
      let name = String(Substring(part[..<equals])).trimmingCharacters(in: .whitespaces)
      guard name.lowercased() == "expires",
        let date = CookieDate.milliseconds(of: String(Substring(part[part.index(after: equals)...])))
      else { return text }
      return " Expires=\(HTTPDate.text(milliseconds: date &+ span))"
    }
    return moved.joined(separator: ";")
  }
}

extension ScriptedAnswer {
  /// Corrects a `Content-Length` that does not match the body, and then also removes the digests. A response with a
  /// `Content-Encoding` stays unchanged: its length and digests refer to the encoded bytes, which were not recorded.
  mutating func fitLength() {
    let length = String(body.count)
    guard !isCoded, head.fields.values(of: .contentLength).contains(where: { $0 != length }) else { return }
    fitChangedBody()
  }

  /// Corrects `Content-Length` and removes the digests after the body has changed. The digests are removed even if the
  /// new body has the same length.
  mutating func fitChangedBody() {
    if !isCoded, head.fields.contains(.contentLength) { head.fields[.contentLength] = String(body.count) }
    for name in ["Content-Digest", "Repr-Digest"] as [HTTPFieldName] {
      head.fields[name] = nil
      trailers[name] = nil
    }
  }

  private var isCoded: Bool { head.fields.contains(.contentEncoding) }
}
