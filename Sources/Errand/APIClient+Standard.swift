import ErrandCache
public import ErrandCore
package import ErrandTransfer

#if os(Linux)
  import ErrandCurl
#elseif canImport(Darwin)
  import ErrandURLSession
#endif

extension APIClient {
  /// Makes a client for one server, with the standard order of the line and the platform's transport.
  ///
  /// - Parameters:
  ///   - baseURL: The URL below which paths stand, such as `https://api.example.com/v1`. Checked when a call is built.
  ///   - cdnURL: The URL of the CDN, for requests that choose it.
  public convenience init(baseURL: String, cdnURL: String? = nil) {
    self.init(ClientConfiguration(baseURL: baseURL, cdnURL: cdnURL))
  }

  /// Makes a client of a configuration, with the standard order of the line.
  public convenience init(_ configuration: ClientConfiguration) {
    self.init(configuration, files: SystemFiles())
  }

  /// Makes a client whose downloads use a file system of the caller's: for tests that let it fail.
  package convenience init(_ configuration: ClientConfiguration, files: any TransferFiles) {
    let registry = StandardTransports.registered
    self.init(
      configuration, registry: registry, order: { Self.standardLine($0, files) },
      platform: { registry.transport(named: StandardTransports.platform) },
      cache: ResponseCache(store: MemoryStore()))
  }

  /// A client for small programs, without a base URL until one is set.
  public static let shared = APIClient(baseURL: "")

  /// The order of the line: the only place that knows it. Architecture.md says why it is so.
  private static func standardLine(_ parts: LineParts, _ files: any TransferFiles) -> [any Interceptor] {
    [Validating()]
      + parts.interceptors
      + [Freezing(parts.sessions), Resuming(files: files, parts.retrying), Redirecting()]
      + [parts.cache?.lookUp ?? Caching(cache: nil)]
      + [Joining(parts.joining, executor: parts.executor)]
      + (parts.cache.map { [$0.storing] } ?? [])
      + [Retrying(parts.retrying), Authorizing(parts.refreshing)]
      + (parts.breaker.map { [FailingFast(parts.breaking, $0)] } ?? [])
      + [Admitting(parts.admission)]
      + (parts.breaker.map { [Breaking(parts.breaking, $0)] } ?? [])
      + (parts.carriesCookies ? [CookieCarrying()] : [])
      + parts.exchangeInterceptors
      + [Transporting(parts.transport, checksAgain: !parts.exchangeInterceptors.isEmpty)]
  }
}

/// The transports that come with the library.
private enum StandardTransports {
  #if os(Linux)
    static let platform = "curl"
  #else
    static let platform = "urlsession"
  #endif

  /// The shared registry, with the transports in it that nobody has replaced.
  static let registered: TransportRegistry = {
    #if os(Linux)
      TransportRegistry.shared.register("curl", replacing: false) { CurlTransport() }
    #elseif canImport(Darwin)
      TransportRegistry.shared.register(URLSessionTransport.name, replacing: false) { URLSessionTransport() }
    #endif
    return .shared
  }()
}
