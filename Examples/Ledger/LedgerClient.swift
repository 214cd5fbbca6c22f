import Errand
import ErrandHTTP

#if os(Linux)
  import ErrandEngine
#endif

extension APIClient {
  /// Configures the client that all services share: hosts, defaults, and caching.
  ///
  /// - Parameters:
  ///   - port: The port of the embedded servers.
  ///   - accounts: The accounts and their credentials.
  func serveLedger(port: Int, accounts: CredentialStore) throws {
    let hosts = LedgerServer.Hosts.self
    let transport = try TransportChoice.loopback(hosts.all, port: port)
    configure { configuration in
      configuration.servers.current.baseURL = "http://\(hosts.api):\(port)"
      configuration.servers.current.cdnURL = "http://\(hosts.cdn):\(port)"
      configuration.servers.others = [ServerEnvironment("reports", baseURL: "http://\(hosts.reports):\(port)")]
      configuration.credentials = accounts
      configuration.timeouts = Timeouts(connect: .seconds(5), total: .seconds(30))
      // Responses of all hosts below the CDN's name are cached for a year; all others are not cached.
      configuration.cache.rules = [HostCacheRule(".cdn.ledger.example", .lifetime(.seconds(31_536_000)))]
      configuration.cache.policy = .none
      configuration.transport = transport
    }
  }
}

extension TransportChoice {
  /// Maps hosts to this machine, like an entry in /etc/hosts. A released app does not need this.
  fileprivate static func loopback(_ hosts: [String], port: Int) throws -> TransportChoice {
    #if os(Linux)
      var settings = EngineConfiguration()
      for host in hosts { settings.addressOverrides["\(host):\(port)"] = "127.0.0.1" }
      return .own(try EngineTransport(settings))
    #else
      return .platform
    #endif
  }
}
