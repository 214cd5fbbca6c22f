import Errand
import ErrandHTTP
import Foundation

#if os(Linux)
  import ErrandCurl
  import ErrandEngine
#endif

extension ClientConfiguration {
  /// The common configuration of the command's clients: no base URL and no cache. If `isVerbose` is true,
  /// the exchanges are printed on standard error.
  static func ofCommand(isVerbose: Bool, usesProxy: Bool) -> ClientConfiguration {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.cache.store = .off
    configuration.additions.userAgent = "errand/\(HelpText.version)"
    if isVerbose {
      let talk = ExchangePrinter(paint: Terminal.paint(for: .error)) { Terminal.write($0, to: .error) }
      configuration.interceptors.exchanges = [talk]
    }
    #if os(Linux)
      if usesProxy, let transport = try? proxyTransport() { configuration.transport = .own(transport) }
    #endif
    return configuration
  }

  #if os(Linux)
    /// A transport that uses the proxies in environment variables. It is based on libcurl if one of them is not an HTTP
    /// proxy, because the engine supports only HTTP proxies.
    private static func proxyTransport() throws -> any Transport {
      let environment = ProcessInfo.processInfo.environment
      let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
      let needsCurl = names.compactMap { environment[$0]?.lowercased() }.contains { url in
        ["socks", "https:"].contains { url.utf8.starts(with: $0.utf8) }
      }
      if needsCurl {
        var settings = CurlConfiguration()
        settings.proxy = .environment
        return try CurlTransport(settings)
      }
      var settings = EngineConfiguration()
      settings.proxy = .environment
      return try EngineTransport(settings)
    }
  #endif
}
