import Errand

/// Says durations, sizes and measurements in words.
enum Wording {
  /// A duration in milliseconds below a second, in seconds above.
  static func duration(_ duration: Duration) -> String {
    let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    switch microseconds {
    case ..<1_000: return "\(decimals(microseconds, 3, keeping: 2)) ms"
    case ..<1_000_000: return "\(decimals(microseconds, 3, keeping: 1)) ms"
    default: return "\(decimals(microseconds, 6, keeping: 2)) s"
    }
  }

  /// A number of bytes: exact below a kibibyte.
  static func bytes(_ count: Int64) -> String {
    switch count {
    case 1: "1 byte"
    case ..<1_024: "\(count) bytes"
    case ..<1_048_576: "\(decimals(count * 10 / 1_024, 1, keeping: 1)) KiB"
    default: "\(decimals(count / 1_024 * 10 / 1_024, 1, keeping: 1)) MiB"
    }
  }

  /// What was measured of a call, on one line.
  static func metrics(_ metrics: CallMetrics) -> String {
    var parts = ["\(duration(metrics.total)) in all"]
    if let last = metrics.exchanges.last { parts += phases(of: last) }
    parts.append("\(bytes(metrics.bytesSent)) sent, \(bytes(metrics.bytesReceived)) received")
    if metrics.redirects > 0 { parts.append(metrics.redirects == 1 ? "1 redirect" : "\(metrics.redirects) redirects") }
    if let reused = metrics.exchanges.last?.isConnectionReused {
      parts.append(reused ? "connection reused" : "new connection")
    }
    if let address = metrics.exchanges.last?.remoteAddress { parts[parts.count - 1] += " to \(address)" }
    return parts.joined(separator: " · ")
  }

  private static func phases(of exchange: ExchangeMetrics) -> [String] {
    let phases: [(String, Duration?)] = [
      ("name", exchange.nameLookup), ("connected", exchange.connect), ("TLS", exchange.tls),
      ("first byte", exchange.firstByte), ("ended", exchange.total),
    ]
    return phases.compactMap { name, at in at.map { "\(name) \(duration($0))" } }
  }

  /// A whole number with its decimal point moved, rounded down to `keeping` places.
  private static func decimals(_ value: Int64, _ places: Int, keeping: Int) -> String {
    let digits = String(value)
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    let fraction = padded.suffix(places).prefix(keeping)
    return "\(padded.dropLast(places)).\(fraction)"
  }
}
