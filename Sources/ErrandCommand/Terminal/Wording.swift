import Errand
import ErrandHTTP
import ErrandCore
import ErrandCache
import Foundation

/// Formats durations, sizes and metrics as text.
enum Wording {
  /// The text for a duration: in milliseconds below a second, otherwise in seconds.
  static func duration(_ duration: Duration) -> String {
    if duration < .zero { return "-\(Self.duration(.zero - duration))" }
    let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    switch microseconds {
    case ..<1_000: return "\(decimals(microseconds, 3, keeping: 2)) ms"
    case ..<1_000_000: return "\(decimals(microseconds, 3, keeping: 1)) ms"
    default: return "\(decimals(microseconds, 6, keeping: 2)) s"
    }
  }

  /// The text for a number of bytes: exact below 1 KiB, otherwise in KiB or MiB with one decimal place.
  static func bytes(_ count: Int64) -> String {
    switch count {
    case 1: "1 byte"
    case ..<1_024: "\(count) bytes"
    case ..<1_048_576: "\(decimals(count * 10 / 1_024, 1, keeping: 1)) KiB"
    default: "\(decimals(count / 1_024 * 10 / 1_024, 1, keeping: 1)) MiB"
    }
  }

  static func metrics(_ metrics: CallMetrics) -> String {
    var parts = ["\(duration(metrics.total)) in total"]
    if let last = metrics.exchanges.last { parts += phases(of: last) }
    parts.append("\(bytes(metrics.bytesSent)) sent, \(bytes(metrics.bytesReceived)) received")
    if metrics.redirects > 0 { parts.append(metrics.redirects == 1 ? "1 redirect" : "\(metrics.redirects) redirects") }
    if let reused = metrics.exchanges.last?.isConnectionReused {
      parts.append(reused ? "connection reused" : "new connection")
    }
    if let last = metrics.exchanges.last, let address = last.remoteAddress {
      parts[parts.count - 1] += " to \(address)" + (last.remotePort.map { " port \($0)" } ?? "")
    }
    return parts.joined(separator: " · ")
  }

  private static func phases(of exchange: ExchangeMetrics) -> [String] {
    let phases: [(String, Duration?)] = [
      ("name", exchange.nameLookup), ("connected", exchange.connect), ("TLS", exchange.tls),
      ("first byte", exchange.firstByte), ("ended", exchange.total),
    ]
    return phases.compactMap { name, at in at.map { "\(name) \(duration($0))" } }
  }

  /// The decimal text of `value` divided by 10 to the power of `places`, truncated to `keeping` decimal places.
  private static func decimals(_ value: Int64, _ places: Int, keeping: Int) -> String {
    let digits = String(value)
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    let fraction = padded.suffix(places).prefix(keeping)
    return "\(padded.dropLast(places)).\(fraction)"
  }
}

extension Wording {
  /// The text for a rate in bytes per second, such as `1.5 MiB/s`.
  static func rate(_ rate: Double) -> String {
    "\(bytes(Int64(exactly: min(max(0, rate), 1e15).rounded()) ?? 0))/s"
  }

  /// The text for a remaining time in the form of a clock, rounded up to seconds: 0:07, 12:30, 3:05:00.
  static func clock(_ duration: Duration) -> String {
    let (whole, rest) = duration.components
    guard whole < 100 * 3_600 else { return "over 99 h" }
    let seconds = max(0, rest > 0 ? whole + 1 : whole)
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
    let tail = twoDigits(seconds % 60)
    return hours > 0 ? "\(hours):\(twoDigits(minutes)):\(tail)" : "\(minutes):\(tail)"
  }

  private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// Texts about stored responses.
extension Wording {
  /// The text for a duration in its two largest units: 12s, 2m 48s, 7d 3h.
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

  /// The age of a stored response; `?` if the age is unknown.
  static func age(of listing: CacheListing, at now: WallTime) -> String {
    listing.age(at: now).map { span(seconds: $0.components.seconds) } ?? "?"
  }

  /// The freshness of a stored response, in a few words.
  static func state(_ state: CacheEntryState) -> String {
    switch state {
    case .fresh(let time): "fresh for \(span(seconds: time.components.seconds))"
    case .stale(let time): "stale for \(span(seconds: time.components.seconds))"
    case .asks: "always checked"
    case .unknown: "age unknown"
    }
  }

  static func entries(_ count: Int) -> String { count == 1 ? "1 entry" : "\(count) entries" }

  /// Facts about a stored response, such as its age and its size, on one line.
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

  /// Two lines: the origin of a response with the reason for this origin, and the field `Cache-Status`.
  static func cache(_ report: CacheReport) -> [String] {
    ["* \(place(report.origin)): \(report.reason)", "* Cache-Status: \(report.status)"].map {
      PlainText.visible($0)
    }
  }

  private static func place(_ origin: ResponseOrigin) -> String {
    switch origin {
    case .network: "from the server"
    case .cacheFresh: "from the cache, fresh"
    case .cacheStale: "from the cache, stale"
    case .revalidated: "from the cache, revalidated"
    case .local: "from neither the server nor the cache"
    }
  }
}

/// Words the errors of Foundation's file functions, whose own descriptions are for programmers.
enum SystemReason {
  /// The system's text for the POSIX error behind an error, such as `Permission denied`.
  static func of(_ error: any Error) -> String {
    let error = error as NSError
    let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
    guard cause.domain == NSPOSIXErrorDomain, let code = Int32(exactly: cause.code) else {
      return error.localizedDescription
    }
    return String(cString: strerror(code))
  }
}
