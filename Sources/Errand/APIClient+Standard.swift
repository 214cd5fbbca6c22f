import ErrandCache
public import ErrandCore
package import ErrandTransfer

#if os(Linux)
  import ErrandCurl
  import ErrandEngine
#elseif canImport(Darwin)
  import ErrandURLSession
#endif

extension APIClient {
  /// Creates a client for one server, with the standard pipeline and the platform's transport.
  ///
  /// - Parameters:
  ///   - baseURL: The URL to which paths are appended, such as `https://api.example.com/v1`. The URL is checked when
  ///     the request of a call is built.
  ///   - cdnURL: The URL of the CDN (content delivery network), for requests whose `server` is `.cdn`; nil for none.
  public convenience init(baseURL: String, cdnURL: String? = nil) {
    self.init(ClientConfiguration(baseURL: baseURL, cdnURL: cdnURL))
  }

  /// Creates a client from a configuration, with the standard pipeline.
  public convenience init(_ configuration: ClientConfiguration) {
    self.init(configuration, files: SystemFiles())
  }

  /// Not available. The configuration has no label.
  @available(*, unavailable, renamed: "init(_:)")
  public convenience init(configuration: ClientConfiguration) { self.init(configuration) }

  /// Creates a client whose downloads use the given file system, so that tests can inject failures.
  package convenience init(_ configuration: ClientConfiguration, files: any TransferFiles) {
    let registry = StandardTransports.registered
    self.init(
      configuration, registry: registry, order: { Self.standardInterceptors($0, files) },
      platform: { registry.transport(named: StandardTransports.platform) },
      cache: ResponseCache(store: MemoryStore()))
  }

  /// A client for small programs. It has no base URL until the program sets one.
  public static let shared = APIClient(baseURL: "")

  /// Returns the interceptors of the standard pipeline, the outermost interceptor first. Only this function determines
  /// their order; Architecture.md explains the reasons for the order.
  private static func standardInterceptors(_ parts: PipelineParts, _ files: any TransferFiles) -> [any Interceptor] {
    let services = parts.services
    return [Validating()]
      + parts.interceptors
      + [Freezing(services.sessions), Resuming(files: files, services.retrying), Redirecting()]
      + [parts.cache?.lookUp ?? Caching(cache: nil)]
      + [Joining(services.joining, executor: parts.executor)]
      + (parts.cache.map { [$0.storing] } ?? [])
      + [Retrying(services.retrying), Authorizing(services.refreshing)]
      + (parts.breaker.map { [FailingFast(services.breaking, $0, services.admission)] } ?? [])
      + [Admitting(services.admission)]
      + (parts.breaker.map { [Breaking(services.breaking, $0, services.admission)] } ?? [])
      + (parts.carriesCookies ? [CookieCarrying()] : [])
      + parts.exchangeInterceptors
      + [Transporting(parts.transport, checksAgain: !parts.exchangeInterceptors.isEmpty)]
  }
}

/// The transports that the library contains, and their registration under their names.
private enum StandardTransports {
  #if os(Linux)
    static let platform = EngineTransport.name
  #else
    static let platform = "urlsession"
  #endif

  /// The shared registry of transports. The library's transports are registered under their names, unless the app has
  /// registered other transports under these names.
  static let registered: TransportRegistry = {
    #if os(Linux)
      TransportRegistry.shared.register("curl", replacing: false) { CurlTransport() }
      TransportRegistry.shared.register(EngineTransport.name, replacing: false) { EngineTransport() }
    #elseif canImport(Darwin)
      TransportRegistry.shared.register(URLSessionTransport.name, replacing: false) { URLSessionTransport() }
    #endif
    return .shared
  }()
}
