package import ErrandJSON
package import Foundation

/// Data that the interceptors of the pipeline attach to a response.
struct ResponseAttachments: Sendable {
  /// The cache entry that the response comes from; nil if the response does not come from the cache.
  var hit: (any StoredHit)?
  /// The file that the body was written to; nil if the body is in memory.
  var file: DownloadedFile?
  /// The body as it was parsed during validation; nil if the body was not parsed.
  var parsed: ParsedJSON?
  /// True if the response must not be stored in the cache, because it belongs to a credential whose account is unknown.
  var mustNotBeStored = false
  /// True if the response rejects the credential of its request, although its status is not 401.
  var rejectsCredential = false
}

private final class HeldAttachments: ResponseCompanion {
  let attachments: ResponseAttachments

  init(_ attachments: ResponseAttachments) { self.attachments = attachments }

  func forAnotherBody() -> any ResponseCompanion {
    var attachments = attachments
    attachments.parsed = nil
    return HeldAttachments(attachments)
  }
}

extension HTTPResponse {
  private var held: HeldAttachments? { companion.flatMap { $0 as? HeldAttachments } }

  /// The file that the body was written to; nil if the body is in memory.
  public var file: DownloadedFile? { held?.attachments.file }

  /// The cache entry that the response comes from; nil if the response does not come from the cache.
  package var hit: (any StoredHit)? { held?.attachments.hit }

  /// True if the response must not be stored in the cache, because it is incomplete, belongs to a credential whose
  /// account is unknown, or rejects its credential.
  package var mustNotBeStored: Bool { isCut || held?.attachments.mustNotBeStored == true || rejectsCredential }

  /// True if the response rejects the credential of its request, although its status is not 401
  /// (``RefreshingProvider/isRejection(_:)``).
  package var rejectsCredential: Bool { held?.attachments.rejectsCredential == true }

  /// The body as it was parsed during validation, so that the decoder does not parse it again; nil if the body was not
  /// parsed.
  var parsed: ParsedJSON? { held?.attachments.parsed }

  package init(head: ResponseHead, body: Data, url: HTTPURL, from origin: ResponseOrigin, hit: (any StoredHit)?) {
    let companion = hit.map { HeldAttachments(ResponseAttachments(hit: $0)) }
    self.init(head: head, body: body, url: url, from: origin, companion: companion)
  }

  package func coming(from origin: ResponseOrigin, hit: (any StoredHit)?) -> HTTPResponse {
    coming(from: origin).withAttachments { $0.hit = hit }
  }

  func markedAsRejection() -> HTTPResponse { withAttachments { $0.rejectsCredential = true } }

  /// Returns a copy of the response with the given parsed body; nil removes the parsed body.
  func with(_ parsed: ParsedJSON?) -> HTTPResponse {
    parsed == nil && self.parsed == nil ? self : withAttachments { $0.parsed = parsed }
  }

  func markedUnstorable() -> HTTPResponse { withAttachments { $0.mustNotBeStored = true } }

  package func written(to file: DownloadedFile) -> HTTPResponse { withAttachments { $0.file = file } }

  private func withAttachments(_ change: (inout ResponseAttachments) -> Void) -> HTTPResponse {
    var attachments = held?.attachments ?? ResponseAttachments()
    change(&attachments)
    var response = self
    response.companion = HeldAttachments(attachments)
    return response
  }
}

/// The cache entry of a response that the cache has served.
package protocol StoredHit: AnyObject, Sendable {
  /// The time at which the stored response was requested, by the wall clock of the cache, in milliseconds since 1970.
  /// If the server has confirmed the response since, the time of the last confirmed request.
  var requestTime: Int64 { get }
  /// Returns the value that an earlier call has decoded from the cache entry by equal rules; nil if there is no such
  /// value.
  func value(for rules: DecodedRules) -> (any Sendable)?
  /// Stores a decoded value together with the bytes of the entry, so that the next call need not decode the bytes
  /// again.
  func keep(_ value: any Sendable, for rules: DecodedRules)
  /// Removes the entry from the cache, because its response fails the rules of a call.
  func reject()
}

/// The rules by which a response was validated and its value was decoded: the type of the request, and everything else
/// that may change the value.
///
/// `DecodedRules` is a class, so that a copy of the rules is only a reference. The rules are passed on many times and
/// compared only once.
package final class DecodedRules: Sendable, Equatable {
  let type: ObjectIdentifier
  let validation: ResponseValidation
  let json: JSONDecoding

  package init(type: Any.Type, _ validation: ResponseValidation, json: JSONDecoding) {
    (self.type, self.validation, self.json) = (ObjectIdentifier(type), validation, json)
  }

  /// The limit of the body is not compared, because it changes no value.
  package static func == (left: DecodedRules, right: DecodedRules) -> Bool {
    if left === right { return true }
    let (mine, theirs) = (left.validation, right.validation)
    return left.type == right.type && left.json.isSame(as: right.json) && mine.status == theirs.status
      && mine.contentTypes == theirs.contentTypes && mine.shape == theirs.shape && mine.envelope == theirs.envelope
  }
}
