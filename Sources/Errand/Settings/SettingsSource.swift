import ErrandHTTP
public import Foundation

/// Where the settings of a client are read from: the environment of the process, a file, or values from another source.
///
/// ```swift
/// let configuration = try ClientConfiguration(reading: .file("/etc/shop/client.env"), .environment())
/// ```
///
/// A source contains only the names that begin with its prefix, such as `ERRAND_BASE_URL`. Other names belong to others
/// and are ignored.
public struct SettingsSource: Sendable {
  /// A value and the place where it was found, for messages: empty, or the file and its line.
  struct Found: Sendable, Hashable {
    let value: String
    var place = ""
  }

  /// The prefix of all names, such as `ERRAND_`.
  let prefix: String
  let read: @Sendable () throws(SettingsError) -> [String: Found]

  /// The environment variables of the process.
  ///
  /// The variables that Kubernetes sets for the services of a namespace, such as `STOCK_SERVICE_HOST` and
  /// `STOCK_PORT_80_TCP`, are ignored, even if they begin with the prefix.
  /// - Parameter prefix: The prefix of the names. Give each client of a program a prefix of its own. No prefix may
  ///   begin with the prefix of another client.
  public static func environment(prefix: String = "ERRAND_") -> SettingsSource {
    environment(prefix: prefix) { ProcessInfo.processInfo.environment }
  }

  /// The environment variables that `variables` returns. Tests use this function, because a change of the environment
  /// would reach the whole process.
  static func environment(
    prefix: String, _ variables: @escaping @Sendable () -> [String: String]
  ) -> SettingsSource {
    SettingsSource(prefix: prefix) { () throws(SettingsError) in
      ServiceLinks.removed(from: variables()).mapValues { Found(value: $0) }
    }
  }

  /// Values from another source, such as a configuration service, by their names with the prefix.
  public static func values(_ values: [String: String], prefix: String = "ERRAND_") -> SettingsSource {
    SettingsSource(prefix: prefix) { () throws(SettingsError) in values.mapValues { Found(value: $0) } }
  }

  /// A file of at most 64 KiB in UTF-8 with a line `NAME=value` for each setting.
  ///
  /// Empty lines and lines that begin with `#` are ignored. A value in double quotes may begin or end with spaces and
  /// contain ` #`. Nothing else has a meaning: no variables, no escapes, no `export`. A line with another form and a
  /// name that occurs twice are errors.
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - prefix: The prefix of the names.
  public static func file(_ path: String, prefix: String = "ERRAND_") -> SettingsSource {
    SettingsSource(prefix: prefix) { () throws(SettingsError) in
      try SettingsFile.parse(SettingsFile.bytes(of: path), name: path)
    }
  }
}

/// The settings of a client are wrong. The description has one sentence for each fault, each on its own line. A
/// sentence names the setting, its value and the cure. A value that may contain a secret is not shown: the credentials
/// of the proxy, a URL without a scheme and a host or with an `@`, and a long value or one with unusual characters.
public struct SettingsError: Error, Sendable, Hashable, CustomStringConvertible, LocalizedError {
  /// The faults, in the order of the names.
  public let faults: [String]

  /// All faults, one on each line.
  public var description: String { faults.joined(separator: "\n") }
  /// The ``description``.
  public var errorDescription: String? { description }
}

/// Recognises the environment variables that Kubernetes sets in each container for the services of its namespace
/// (service links).
///
/// For a service named `stock-db` they are `STOCK_DB_SERVICE_HOST`, `STOCK_DB_SERVICE_PORT`,
/// `STOCK_DB_SERVICE_PORT_HTTP` for a port named `http`, `STOCK_DB_PORT`, `STOCK_DB_PORT_80_TCP`, and the last name
/// with one of the endings `_ADDR`, `_PORT` and `_PROTO`. The prefix of a client may be `STOCK_`. These names must not
/// be faults in its settings, because Kubernetes has set them and not the operator.
enum ServiceLinks {
  /// The environment variables without the service links.
  static func removed(from variables: [String: String]) -> [String: String] {
    variables.filter { name, _ in !isLink(Array(name.utf8), among: variables) }
  }

  /// Whether a name has the form of a service link, and Kubernetes has also set the two names that every service has.
  /// The second condition keeps a mistyped setting, such as `STOCK_PROXY_PORT`, a fault.
  private static func isLink(_ name: [UInt8], among variables: [String: String]) -> Bool {
    name.indices.contains { place in
      guard name[place] == underscore, isEnding(name[(place + 1)...]) else { return false }
      let service = String(decoding: name[..<place], as: UTF8.self)
      return variables[service + "_SERVICE_HOST"] != nil && variables[service + "_SERVICE_PORT"] != nil
    }
  }

  /// Whether the text is the part of a service link behind the name of the service and an underscore.
  private static func isEnding(_ text: ArraySlice<UInt8>) -> Bool {
    let parts = text.split(separator: underscore, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    switch parts.first {
    case "SERVICE":
      // The name of a port may contain more underscores.
      return parts.count == 2 ? parts[1] == "HOST" || parts[1] == "PORT" : parts.count > 2 && parts[1] == "PORT"
    case "PORT":
      if parts.count == 1 { return true }
      guard parts.count == 3 || parts.count == 4 else { return false }
      let isPort = !parts[1].isEmpty && parts[1].utf8.allSatisfy { ASCII.isDigit($0) }
      return isPort && protocols.contains(parts[2]) && (parts.count == 3 || details.contains(parts[3]))
    default: return false
    }
  }

  private static let underscore = UInt8(ascii: "_")
  private static let protocols = ["TCP", "UDP", "SCTP"]
  private static let details = ["ADDR", "PORT", "PROTO"]
}
