#if SwiftServiceLifecycle
  public import ErrandCore
  public import ErrandTelemetry
  public import ServiceLifecycle

  /// An exporter as a service: when the service group shuts down, the exporter sends what waits. Put it before the
  /// services whose calls are traced, because a group shuts down its services in reverse order.
  ///
  /// ```swift
  /// let group = ServiceGroup(services: [ExporterService(exporter), server], logger: logger)
  /// ```
  public struct ExporterService: Service {
    private let exporter: OTLPExporter

    /// Makes a service that shuts down an exporter.
    public init(_ exporter: OTLPExporter) { self.exporter = exporter }

    /// Waits until the group shuts down or the task is cancelled, then shuts down the exporter; see
    /// ``ErrandTelemetry/OTLPExporter/shutdown()``.
    public func run() async throws {
      try? await gracefulShutdown()
      await exporter.shutdown()
    }
  }

  /// A client as a service: when the service group shuts down, the client drains. Put it before the services that send
  /// calls, because a group shuts down its services in reverse order.
  ///
  /// ```swift
  /// let group = ServiceGroup(services: [ClientService(client), server], logger: logger)
  /// ```
  public struct ClientService: Service {
    private let client: APIClient
    private let limit: Duration

    /// Makes a service that drains a client.
    /// - Parameter limit: The time in which running calls may end by themselves.
    public init(_ client: APIClient, within limit: Duration = .seconds(30)) {
      self.client = client
      self.limit = limit
    }

    /// Waits until the group shuts down, then drains the client; see ``ErrandCore/APIClient/drain(within:)``. If the
    /// task is cancelled, the client's calls are cancelled at once.
    public func run() async throws {
      try? await gracefulShutdown()
      await client.drain(within: limit)
    }
  }
#endif
