import Errand

/// The configuration that all APIs of the app share.
enum MarketClient {
  /// Creates the client.
  ///
  /// - Parameters:
  ///   - url: The URL of the server.
  ///   - transport: The name of the HTTP library; nil for the platform's.
  ///   - spinner: The loading indicator of the whole app.
  static func make(_ url: String, transport: String?, spinner: LoadingIndicator) -> APIClient {
    var configuration = ClientConfiguration(baseURL: url)
    configuration.headers = ["X-App": "market"]
    configuration.validation.envelope = Envelope(value: "data", code: "code", message: "message")
    configuration.accessories = [spinner]
    if let transport { configuration.transport = .named(transport) }
    return APIClient(configuration)
  }
}
