import Errand

/// How the app talks to its servers: said once, at launch.
enum AlbumClient {
  /// - Parameters:
  ///   - api: The URL of the API.
  ///   - cdn: The URL of the pictures.
  ///   - timers: The clock, which a test turns.
  static func make(api: String, cdn: String, timers: (any Timers)? = nil) -> APIClient {
    var configuration = ClientConfiguration(baseURL: api, cdnURL: cdn)
    configuration.timers = timers
    // Every URL says which version asks.
    configuration.filters = [
      URLFilter("version") { target, _ in target.arguments["version"] = "1.4.0" }
    ]
    return APIClient(configuration)
  }
}
