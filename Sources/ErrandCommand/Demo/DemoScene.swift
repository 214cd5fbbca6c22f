import ErrandTesting

/// A scene of the demo, which is a short program: the code to show, the responses of the servers, and the expected
/// results.
protocol DemoScene: Sendable {
  /// A short description of the scene, which the demo prints as a heading.
  var title: String { get }
  /// The source file of the scene. The demo prints the marked lines of this file.
  var source: SceneSource { get }
  /// The response of a server of the demo to a request of this scene.
  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer
  /// Plays this scene of the demo: sends its requests, and adds the results and their checks to the report of the
  /// ``Stage``.
  @MainActor func play(on stage: Stage) async throws
}

/// The servers of the demo.
enum DemoHost: String, Sendable {
  /// The host of the API.
  case api = "API"
  /// The host of images and other large files.
  case cdn = "CDN"
}
