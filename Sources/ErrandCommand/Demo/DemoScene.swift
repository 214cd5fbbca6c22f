import ErrandTesting

/// One everyday scene: what is declared, how the servers answer, and what has to come of it.
protocol DemoScene: Sendable {
  /// The scene in a few words.
  var title: String { get }
  /// The source text that the scene shows. Every line of it stands in the scene's own code, too; a test sees to it.
  var declared: String { get }
  /// How a server answers.
  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer
  /// Plays the scene on a stage, and notes there what was seen and whether it was as declared.
  @MainActor func play(on stage: Stage) async throws
}

/// The servers of the demo.
enum DemoHost: String, Sendable {
  /// Where the API is.
  case api = "API"
  /// Where images and other large things are.
  case cdn = "CDN"
}
