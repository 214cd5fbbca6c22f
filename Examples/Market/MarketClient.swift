import Errand

/// The app's client: what all its APIs share.
enum MarketClient {
  /// Makes the client.
  ///
  /// - Parameters:
  ///   - url: Where the server is.
  ///   - transport: The name of the HTTP library; nil for the platform's.
  ///   - spinner: The loading animation of the whole app.
  static func make(_ url: String, transport: String?, spinner: LoadingIndicator) -> APIClient {
    var configuration = ClientConfiguration(baseURL: url)
    configuration.headers = ["X-App": "market"]
    configuration.envelope = Envelope(value: "data", code: "code", message: "message")
    configuration.accessories = [spinner]
    if let transport { configuration.transport = .named(transport) }
    return APIClient(configuration)
  }
}
