import ErrandSupport
import ErrandTesting

/// The two servers of the demo. The current scene of the demo determines the responses of the servers.
final class DemoServers: Sendable {
  /// Stores the current scene of the demo. The threads of the servers read it.
  private final class CurrentScene: Sendable {
    let scene = Locked<(any DemoScene)?>(nil)

    func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
      scene.withLock { $0 }?.answer(request, from: host) ?? .status(503, body: "no scene is running\n")
    }
  }

  let api: LoopbackServer
  let cdn: LoopbackServer
  private let current = CurrentScene()

  /// Starts both servers of the demo.
  init() throws {
    api = try LoopbackServer { [current] in current.answer($0, from: .api) }
    cdn = try LoopbackServer { [current] in current.answer($0, from: .cdn) }
  }

  /// Makes a scene of the demo the current scene, which determines the responses of both servers.
  func show(_ scene: any DemoScene) { current.scene.withLock { $0 = scene } }

  subscript(host: DemoHost) -> LoopbackServer { host == .api ? api : cdn }
}
