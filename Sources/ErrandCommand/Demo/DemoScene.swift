import ErrandTesting

/// One everyday scene: the declared code, the responses of the servers, and the expected results.
protocol DemoScene: Sendable {
  /// A short description of the scene.
  var title: String { get }
  /// The source file, whose marked lines are shown.
  var source: SceneSource { get }
  /// The response of a server.
  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer
  /// Plays the scene, and adds its results and the checks of them to the stage's report.
  @MainActor func play(on stage: Stage) async throws
}

/// The servers of the demo.
enum DemoHost: String, Sendable {
  /// The host of the API.
  case api = "API"
  /// The host of images and other large files.
  case cdn = "CDN"
}
