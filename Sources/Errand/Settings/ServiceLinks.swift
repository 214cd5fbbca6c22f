import ErrandHTTP

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
