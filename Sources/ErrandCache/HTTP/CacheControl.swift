package import ErrandCore

/// The directives of `Cache-Control`, of a request or of an answer (RFC 9111 section 5.2, RFC 5861, RFC 8246).
///
/// Of a directive that stands there twice the strictest counts. A number that is none counts as the strictest one.
/// `private` and `no-cache` with names of fields count as those without: no field is ever stripped. `s-maxage` and
/// `proxy-revalidate` are for shared caches and are not read.
package struct CacheControl: Sendable, Hashable {
  /// Nothing of it may be stored.
  package var noStore = false
  /// The server is asked each time.
  package var noCache = false
  /// Never served stale.
  package var mustRevalidate = false
  /// Stored only where the status is understood, and then in spite of ``noStore``.
  package var mustUnderstand = false
  /// Any cache may store it.
  package var isPublic = false
  /// A private cache may store it.
  package var isPrivate = false
  /// It does not change while it is fresh.
  package var immutable = false
  /// The network is not asked.
  package var onlyIfCached = false
  /// For how many seconds it is fresh, or how old it may be.
  package var maxAge: Int64?
  /// For how many seconds it must stay fresh.
  package var minFresh: Int64?
  /// By how many seconds it may be stale; the largest number for any.
  package var maxStale: Int64?
  /// For how many seconds it may be served stale while it is refreshed.
  package var staleWhileRevalidate: Int64?
  /// For how many seconds it may be served stale when the server fails.
  package var staleIfError: Int64?
  /// A quote is open at the end: what was swallowed by it is unknown, so nothing counts as fresh.
  package var isMalformed = false

  /// No directive at all.
  package init() {}

  /// Reads the values of the field, one for each line. Linear in their length.
  package init(_ lines: [String]) {
    for line in lines {
      var reader = CacheControlReader(line)
      while let directive = reader.next() { apply(directive) }
      isMalformed = isMalformed || reader.isUnterminated
    }
  }

  /// The directives of an answer.
  package init(answer fields: HTTPFields) { self.init(fields.values(of: .cacheControl)) }

  /// The directives of a request; `Pragma: no-cache` counts where there is no `Cache-Control` (section 5.4).
  package init(request fields: HTTPFields) {
    self.init(fields.values(of: .cacheControl))
    guard !fields.contains(.cacheControl) else { return }
    noCache = fields.values(of: "Pragma").flatMap(FieldList.members).contains {
      ASCII.equalFolded($0.utf8, "no-cache".utf8)
    }
  }

  private mutating func apply(_ directive: CacheControlReader.Directive) {
    switch directive.name {
    case "no-store": noStore = true
    case "no-cache": noCache = true
    case "must-revalidate": mustRevalidate = true
    case "must-understand": mustUnderstand = true
    case "public": isPublic = true
    case "private": isPrivate = true
    case "immutable": immutable = true
    case "only-if-cached": onlyIfCached = true
    case "max-age": maxAge = min(maxAge ?? .max, directive.seconds ?? 0)
    case "min-fresh": minFresh = max(minFresh ?? 0, directive.seconds ?? DeltaSeconds.ceiling)
    case "max-stale": maxStale = min(maxStale ?? .max, directive.isBare ? .max : directive.seconds ?? 0)
    case "stale-while-revalidate": staleWhileRevalidate = min(staleWhileRevalidate ?? .max, directive.seconds ?? 0)
    case "stale-if-error": staleIfError = min(staleIfError ?? .max, directive.seconds ?? 0)
    default: break
    }
  }
}
