import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension URLSessionSettings {
  /// URLSession's configuration: nothing is kept, and nothing is done that is the line's.
  func configuration(waits: Bool = false) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    apply(to: configuration, waits: waits)
    return configuration
  }

  /// Puts them into a configuration of any kind.
  func apply(to configuration: URLSessionConfiguration, waits: Bool = false) {
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    // Silence and the deadline are watched by the exchange: exactly, and never cut to whole seconds.
    configuration.timeoutIntervalForRequest = SessionOrder.patience
    configuration.timeoutIntervalForResource = SessionOrder.patience
    if let connectionsPerHost { configuration.httpMaximumConnectionsPerHost = connectionsPerHost }
    #if canImport(Darwin)
      SessionChoices(self, waits: waits).apply(to: configuration)
    #endif
  }
}
