import Errand
import ErrandCache

/// What is said about stored answers.
extension Wording {
  /// A span of time in its two largest units: 12s, 2m 48s, 7d 3h.
  static func span(seconds: Int64) -> String {
    let units: [(name: String, length: Int64)] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)]
    let first = units.firstIndex { seconds >= $0.length } ?? units.count - 1
    var rest = seconds
    let parts = units[first...].prefix(2).map { unit in
      defer { rest %= unit.length }
      return (rest / unit.length, unit.name)
    }
    return parts.enumerated().filter { $0 == 0 || $1.0 > 0 }.map { "\($1.0)\($1.1)" }.joined(separator: " ")
  }

  /// How long ago an answer came.
  static func age(of listing: CacheListing, at now: WallTime) -> String {
    listing.age(at: now).map { span(seconds: $0.components.seconds) } ?? "?"
  }

  /// How fresh it is, in two or three words.
  static func state(_ state: CacheEntryState) -> String {
    switch state {
    case .fresh(let time): "fresh for \(span(seconds: time.components.seconds))"
    case .stale(let time): "stale for \(span(seconds: time.components.seconds))"
    case .asks: "asks always"
    case .unknown: "age unknown"
    }
  }

  /// A number of entries.
  static func entries(_ count: Int) -> String { count == 1 ? "1 entry" : "\(count) entries" }

  /// What is known of a stored answer beside its head and its body, on one line.
  static func facts(of listing: CacheListing, at now: WallTime) -> String {
    let (head, label) = (listing.head, listing.head.label)
    var parts = [
      "* \(label.method) \(label.url)", "stored \(age(of: listing, at: now)) ago", state(listing.state(at: now)),
      bytes(Int64(listing.bodyLength)),
    ]
    if head.policy.model == .lifetime { parts.append("declared lifetime") }
    if let tag = label.tag { parts.append("tag \(tag)") }
    if !head.vary.isEmpty {
      parts.append(
        "for "
          + head.vary.map { "\($0.name): \(Secrets.shown($0.value ?? "none", of: $0.name))" }
          .joined(separator: ", "))
    }
    return PlainText.visible(parts.joined(separator: " · "))
  }

  /// Where an answer came from and why, a line each.
  static func cache(_ report: CacheReport) -> [String] {
    ["* \(place(report.origin)): \(report.reason)", "* Cache-Status: \(report.status)"]
  }

  private static func place(_ origin: ResponseOrigin) -> String {
    switch origin {
    case .network: "from the server"
    case .cacheFresh: "from the cache, fresh"
    case .cacheStale: "from the cache, stale"
    case .revalidated: "from the cache, confirmed"
    case .local: "from nobody"
    }
  }
}
