import Errand

extension APIClient {
  /// Sets up the client that all services share: hosts, defaults, and what is kept.
  ///
  /// - Parameters:
  ///   - port: The port of the embedded servers.
  ///   - accounts: Who is logged in.
  func serveLedger(port: Int, accounts: CredentialStore) throws {
    let hosts = LedgerServer.Hosts.self
    let transport = try TransportChoice.loopback(hosts.all, port: port)
    configure { configuration in
      configuration.environment.baseURL = "http://\(hosts.api):\(port)"
      configuration.environment.cdnURL = "http://\(hosts.cdn):\(port)"
      configuration.environments = [ServerEnvironment("reports", baseURL: "http://\(hosts.reports):\(port)")]
      configuration.credentials = accounts
      configuration.timeouts = Timeouts(connect: .seconds(5), total: .seconds(30))
      // A year for everything below the CDN's name; elsewhere nothing is kept.
      configuration.cacheRules = [HostCacheRule(".cdn.ledger.example", .lifetime(.seconds(31_536_000)))]
      configuration.cachePolicy = .none
      configuration.transport = transport
    }
  }
}

extension TransportChoice {
  /// Finds hosts on this machine, as an entry in /etc/hosts would. A shipped app has no need of it.
  fileprivate static func loopback(_ hosts: [String], port: Int) throws -> TransportChoice {
    #if os(Linux)
      var settings = CurlConfiguration()
      for host in hosts { settings.addressOverrides["\(host):\(port)"] = "127.0.0.1" }
      return .own(try CurlTransport(settings))
    #else
      return .platform
    #endif
  }
}
