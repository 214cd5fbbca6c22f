import Errand
import ErrandHTTP

/// Creates the app's client, once, at launch.
enum AlbumClient {
  /// - Parameters:
  ///   - api: The URL of the API.
  ///   - cdn: The URL of the pictures.
  ///   - timers: The clock; a test passes a manual one.
  static func make(api: String, cdn: String, timers: (any Timers)? = nil) -> APIClient {
    var configuration = ClientConfiguration(baseURL: api, cdnURL: cdn)
    configuration.timers = timers
    // Every URL contains the version of the app.
    configuration.additions.filters = [
      URLFilter("version") { target, _ in target.arguments["version"] = "1.4.0" }
    ]
    return APIClient(configuration)
  }
}
