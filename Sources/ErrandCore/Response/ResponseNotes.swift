import ErrandJSON
package import Foundation

/// What the pipeline attaches to a response.
struct ResponseNotes: Sendable {
  /// The entry of the cache that it came from.
  var hit: (any StoredHit)?
  /// The file that the body went into.
  var file: DownloadedFile?
  /// The body as it was parsed when it was judged.
  var parsed: ParsedJSON?
  /// Whether it was given to a credential that nothing says whose it is.
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

  /// The file that the body went into; nil where it went elsewhere.
  public var file: DownloadedFile? { held?.notes.file }

  /// The entry it came from, if it came from the cache.
  package var hit: (any StoredHit)? { held?.notes.hit }

  /// Whether it is nobody's to keep: it was given to a credential that nothing says whose it is, or is not whole.
  package var isUnowned: Bool { isCut || held?.notes.isUnowned == true }

  /// The body as it was parsed when it was judged, for whom reads it next; nil where nobody parsed it.
  var parsed: ParsedJSON? { held?.notes.parsed }

  /// Makes an answer that was stored.
  package init(head: ResponseHead, body: Data, url: HTTPURL, from origin: ResponseOrigin, hit: (any StoredHit)?) {
    let companion = hit.map { HeldNotes(ResponseNotes(hit: $0)) }
    self.init(head: head, body: body, url: url, from: origin, companion: companion)
  }

  /// The same answer as one that came from an entry.
  package func coming(from origin: ResponseOrigin, hit: (any StoredHit)?) -> HTTPResponse {
    coming(from: origin).noting { $0.hit = hit }
  }

  /// The same answer with its parsed body, or without.
  func with(_ parsed: ParsedJSON?) -> HTTPResponse {
    parsed == nil && self.parsed == nil ? self : noting { $0.parsed = parsed }
  }

  /// The same answer as one that nobody may keep.
  func unowned() -> HTTPResponse { noting { $0.isUnowned = true } }

  /// The same answer, its body in a file.
  package func written(to file: DownloadedFile) -> HTTPResponse { noting { $0.file = file } }

  private func noting(_ change: (inout ResponseNotes) -> Void) -> HTTPResponse {
    var notes = held?.notes ?? ResponseNotes()
    change(&notes)
    var response = self
    response.companion = HeldNotes(notes)
    return response
  }
}
