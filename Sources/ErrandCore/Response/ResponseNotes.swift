import ErrandJSON
package import Foundation

/// Data that the pipeline attaches to a response.
struct ResponseNotes: Sendable {
  /// The cache entry that the response comes from.
  var hit: (any StoredHit)?
  /// The file that the body was written to.
  var file: DownloadedFile?
  /// The body as it was parsed during validation.
  var parsed: ParsedJSON?
  /// Whether the response belongs to a credential whose account is unknown.
  var isUnowned = false
}

private final class HeldNotes: ResponseCompanion {
  let notes: ResponseNotes

  init(_ notes: ResponseNotes) { self.notes = notes }

  func forAnotherBody() -> any ResponseCompanion {
    var notes = notes
    notes.parsed = nil
    return HeldNotes(notes)
  }
}

extension HTTPResponse {
  private var held: HeldNotes? { companion.flatMap { $0 as? HeldNotes } }

  /// The file that the body was written to; nil if it was written to none.
  public var file: DownloadedFile? { held?.notes.file }

  /// The cache entry of the response, if it comes from the cache.
  package var hit: (any StoredHit)? { held?.notes.hit }

  /// True if the response must not be stored, because it is incomplete or belongs to a credential whose account is
  /// unknown.
  package var isUnowned: Bool { isCut || held?.notes.isUnowned == true }

  /// The body as it was parsed during validation, so that the decoder need not parse it again; nil if it was not
  /// parsed.
  var parsed: ParsedJSON? { held?.notes.parsed }

  /// Makes a response from a stored entry.
  package init(head: ResponseHead, body: Data, url: HTTPURL, from origin: ResponseOrigin, hit: (any StoredHit)?) {
    let companion = hit.map { HeldNotes(ResponseNotes(hit: $0)) }
    self.init(head: head, body: body, url: url, from: origin, companion: companion)
  }

  /// A copy of the response with a cache entry as its origin.
  package func coming(from origin: ResponseOrigin, hit: (any StoredHit)?) -> HTTPResponse {
    coming(from: origin).noting { $0.hit = hit }
  }

  /// A copy of the response with the parsed body, or without a parsed body.
  func with(_ parsed: ParsedJSON?) -> HTTPResponse {
    parsed == nil && self.parsed == nil ? self : noting { $0.parsed = parsed }
  }

  /// A copy of the response, marked so that it is not stored.
  func unowned() -> HTTPResponse { noting { $0.isUnowned = true } }

  /// A copy of the response with its body in a file.
  package func written(to file: DownloadedFile) -> HTTPResponse { noting { $0.file = file } }

  private func noting(_ change: (inout ResponseNotes) -> Void) -> HTTPResponse {
    var notes = held?.notes ?? ResponseNotes()
    change(&notes)
    var response = self
    response.companion = HeldNotes(notes)
    return response
  }
}
