import ErrandCache
import ErrandCore
import ErrandHTTP
import Foundation

/// The settings that ``ErrandCore/ClientConfiguration`` can read. The raw value is the name without the prefix.
enum ClientSetting: String, CaseIterable {
  case baseURL = "BASE_URL"
  case cdnURL = "CDN_URL"
  case userAgent = "USER_AGENT"
  case connectTimeout = "TIMEOUT_CONNECT"
  case idleTimeout = "TIMEOUT_IDLE"
  case totalTimeout = "TIMEOUT_TOTAL"
  case retries = "RETRIES"
  case callsPerHost = "CALLS_PER_HOST"
  case callsTotal = "CALLS_TOTAL"
  case callsWaiting = "CALLS_WAITING"
  case responseLimit = "RESPONSE_LIMIT"
  case cache = "CACHE"
  case record = "RECORD"
  case proxy = "PROXY"
  case proxyUser = "PROXY_USER"
  case proxyPassword = "PROXY_PASSWORD"
  case authorityFile = "CA_FILE"

  /// A wrong value, for messages; nil if it may contain a secret, such as a password in a place where a URL has none,
  /// or a token that was written to the wrong setting.
  func shown(_ value: String) -> String? {
    switch self {
    case .proxyUser, .proxyPassword: return nil
    case .baseURL, .cdnURL, .proxy: return value.isEmpty || Self.hasAuthority(value) ? Redaction.url(value) : nil
    default:
      let isPlain = value.utf8.allSatisfy { ASCII.isAlphanumeric($0) || " -./_".utf8.contains($0) }
      return isPlain && value.utf8.count <= 24 ? value : nil
    }
  }

  /// Whether a text has a scheme, a host and perhaps a port, and contains no `@`.
  private static func hasAuthority(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard !bytes.contains(0x40), let colon = bytes.firstIndex(of: 0x3A), bytes[colon...].starts(with: "://".utf8),
      colon > 0, bytes[..<colon].allSatisfy(ASCII.isAlphanumeric)
    else { return false }
    let authority = bytes[(colon + 3)...].prefix { !"/?#".utf8.contains($0) }
    let host: ArraySlice<UInt8>
    var port: ArraySlice<UInt8> = []
    if authority.first == 0x5B, let end = authority.firstIndex(of: 0x5D) {
      host = authority[..<end].dropFirst()
      let rest = authority[(end + 1)...]
      guard rest.isEmpty || rest.first == 0x3A else { return false }
      port = rest.dropFirst()
      guard host.allSatisfy({ ASCII.isAlphanumeric($0) || ":.".utf8.contains($0) }) else { return false }
    } else {
      host = authority.prefix { $0 != 0x3A }
      port = authority.dropFirst(host.count + 1)
      guard host.allSatisfy({ ASCII.isAlphanumeric($0) || "-._".utf8.contains($0) }) else { return false }
    }
    return !host.isEmpty && port.count <= 5 && port.allSatisfy(ASCII.isDigit)
  }

  /// What the value must be, for messages.
  var form: String {
    switch self {
    case .baseURL, .cdnURL: "a URL such as https://api.example.com"
    case .userAgent: "a text without control characters"
    case .connectTimeout, .idleTimeout, .totalTimeout: "a time such as 500ms, 30s, 2m or 1h, or never"
    case .retries: "a number of retries after the first attempt from 0 to 99"
    case .callsPerHost, .callsTotal: "a number of at least 1"
    case .callsWaiting: "a number of at least 0"
    case .responseLimit: "a size such as 512KiB, 32MiB or 1GiB"
    case .cache: "memory, off, or the absolute path of a folder"
    case .record: "off, or a number of calls from 1 to 100000"
    case .proxy: "none, environment, or a URL such as http://proxy.example.com:3128 without a user"
    case .proxyUser: "a user name without a colon and without control characters"
    case .proxyPassword: "a password without control characters"
    case .authorityFile: "the absolute path of a file with certificates in PEM"
    }
  }

  /// Applies a value to a configuration, or to the connection settings that make its transport. Returns false if the
  /// value has another form than ``form``.
  func apply(
    _ text: String, to configuration: inout ClientConfiguration, _ connection: inout ConnectionSettings
  ) -> Bool {
    if text.isEmpty || text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) { return false }
    switch self {
    case .baseURL: return Self.isURL(text) && Self.set(&configuration.servers.current.baseURL, text)
    case .cdnURL: return Self.isURL(text) && Self.set(&configuration.servers.current.cdnURL, text)
    case .userAgent: return Self.set(&configuration.additions.userAgent, text)
    case .connectTimeout: return Self.set(&configuration.timeouts.connect, SettingsValue.limit(text))
    case .idleTimeout: return Self.set(&configuration.timeouts.idle, SettingsValue.limit(text))
    case .totalTimeout: return Self.set(&configuration.timeouts.total, SettingsValue.limit(text))
    case .retries: return Self.setRetries(&configuration.retries, SettingsValue.count(text))
    case .callsPerHost: return Self.set(&configuration.admission.perHost, SettingsValue.count(text), least: 1)
    case .callsTotal: return Self.set(&configuration.admission.total, SettingsValue.count(text), least: 1)
    case .callsWaiting: return Self.set(&configuration.admission.waiting, SettingsValue.count(text), least: 0)
    case .responseLimit: return Self.set(&configuration.limits.bodyBytes, SettingsValue.bytes(text), least: 1)
    case .cache: return Self.setCache(&configuration.cache.store, text)
    case .record: return Self.setRecord(&configuration.record, text)
    case .proxy, .proxyUser, .proxyPassword, .authorityFile: return connection.set(self, text)
    }
  }

  private static func set<Value>(_ place: inout Value, _ value: Value) -> Bool {
    place = value
    return true
  }

  private static func set(_ place: inout TimeLimit?, _ value: TimeLimit?) -> Bool {
    guard let value else { return false }
    place = value
    return true
  }

  private static func set(_ place: inout Int, _ value: Int?, least: Int) -> Bool {
    guard let value, value >= least else { return false }
    place = value
    return true
  }

  private static func isURL(_ text: String) -> Bool { (try? HTTPURL(text)) != nil }

  /// Sets the number of attempts. A policy that the program has set keeps its other properties.
  private static func setRetries(_ policy: inout RetryPolicy, _ count: Int?) -> Bool {
    guard let count, count < 100 else { return false }
    if policy == .none { policy = .standard }
    policy.attempts = count + 1
    return true
  }

  private static func setCache(_ choice: inout CacheChoice, _ text: String) -> Bool {
    switch text {
    case "memory": choice = .standard
    case "off": choice = .off
    case _ where text.utf8.first == 0x2F:
      choice = .disk(at: URL(fileURLWithPath: text, isDirectory: true))
    default: return false
    }
    return true
  }

  private static func setRecord(_ recording: inout FlightRecording, _ text: String) -> Bool {
    if text == "off" { return set(&recording, .off) }
    guard let calls = SettingsValue.count(text), (1...100_000).contains(calls) else { return false }
    return set(&recording, .ring(calls: calls))
  }
}

/// Parses the values of settings. Each function returns nil if the text has not the form that
/// ``ClientSetting/form`` describes.
enum SettingsValue {
  /// A whole number without a sign, such as `3`.
  static func count(_ text: String) -> Int? {
    let digits = Array(text.utf8)
    guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy(ASCII.isDigit) else { return nil }
    return Int(text)
  }

  /// A time with its unit, such as `500ms`, `30s`, `2m` or `1h`, or `never`. Zero is no time limit that a call can
  /// meet, so it is rejected.
  static func limit(_ text: String) -> TimeLimit? {
    if text == "never" { return .never }
    return measured(text, [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)])
      .map { $0 < 4_000_000_000_000 ? .milliseconds($0) : .never }  // as ``TimeLimit/seconds(_:)``
  }

  /// A number of bytes with its unit, such as `512KiB`, `32MiB` or `1GiB`. Zero is rejected.
  static func bytes(_ text: String) -> Int? {
    measured(text, [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)])
  }

  private static func measured(_ text: String, _ units: [(name: String, size: Int)]) -> Int? {
    let digits = text.utf8.prefix(while: ASCII.isDigit)
    let unit = text.utf8.dropFirst(digits.count)
    guard let number = count(String(decoding: digits, as: UTF8.self)), number > 0,
      let size = units.first(where: { $0.name.utf8.elementsEqual(unit) })?.size
    else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: size)
    return overflow ? nil : product
  }
}
