package import ErrandCore

/// The directives of `Cache-Control`, of a request or of a response (RFC 9111 section 5.2, RFC 5861, RFC 8246).
///
/// If a directive is repeated, the strictest value counts. An argument that is not a number counts as the strictest
/// value. `private` and `no-cache` with field names count like those without names, because the cache never removes
/// single fields. `s-maxage` and `proxy-revalidate` are for shared caches and are ignored.
package struct CacheControl: Sendable, Hashable {
  /// `no-store`: no part of the request or the response may be stored.
  package var noStore = false
  /// `no-cache`: the stored response must be validated before each use.
  package var noCache = false
  /// `must-revalidate`: the stored response is never served stale.
  package var mustRevalidate = false
  /// `must-understand`: the response is stored only if the cache understands its status. A response with this directive
  /// may be stored even if it also has `no-store`.
  package var mustUnderstand = false
  /// `public`: any cache may store the response.
  package var isPublic = false
  /// `private`: only a private cache, such as this one, may store the response.
  package var isPrivate = false
  /// `immutable`: the response does not change while it is fresh.
  package var immutable = false
  /// `only-if-cached` in a request: the server must not be contacted.
  package var onlyIfCached = false
  /// `max-age` in seconds. In a response it is the freshness lifetime; in a request it is the maximum accepted age.
  package var maxAge: Int64?
  /// `min-fresh` in a request: the time in seconds for which the response must remain fresh.
  package var minFresh: Int64?
  /// `max-stale` in a request: the maximum time in seconds for which the response may have been stale. If the directive
  /// has no argument, the value is the largest number, because any staleness is accepted.
  package var maxStale: Int64?
  /// `stale-while-revalidate`: the time in seconds for which a stale response may be served while it is refreshed.
  package var staleWhileRevalidate: Int64?
  /// `stale-if-error`: the time in seconds for which a stale response may be served if the server fails.
  package var staleIfError: Int64?
  /// Whether a quoted string in the field is not terminated. The directives after the quote are then unknown, so the
  /// response never counts as fresh.
  package var isMalformed = false

  /// Makes a value without directives.
  package init() {}

  /// Parses the values of all `Cache-Control` lines, in linear time.
  package init(_ lines: [String]) {
    for line in lines {
      var reader = CacheControlReader(line)
      while let directive = reader.next() { apply(directive) }
      isMalformed = isMalformed || reader.isUnterminated
    }
  }

  /// Parses the directives of a response.
  package init(response fields: HTTPFields) { self.init(fields.values(of: .cacheControl)) }

  /// Parses the directives of a request. In a request without `Cache-Control`, `Pragma: no-cache` counts as `no-cache`
  /// (RFC 9111 section 5.4).
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
