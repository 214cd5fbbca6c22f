import ErrandSupport
import ErrandTesting

/// The two servers of the demo. The current scene determines their responses.
final class DemoServers: Sendable {
  /// Holds the current scene for the threads of the servers.
  private final class Playbill: Sendable {
    let scene = Locked<(any DemoScene)?>(nil)

    func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
      scene.withLock { $0 }?.answer(request, from: host) ?? .status(503, body: "no scene is running\n")
    }
  }

  let api: LoopbackServer
  let cdn: LoopbackServer
  private let playbill = Playbill()

  /// Starts both servers.
  init() throws {
    api = try LoopbackServer { [playbill] in playbill.answer($0, from: .api) }
    cdn = try LoopbackServer { [playbill] in playbill.answer($0, from: .cdn) }
  }

  /// Makes a scene the current one.
  func show(_ scene: any DemoScene) { playbill.scene.withLock { $0 = scene } }

  subscript(host: DemoHost) -> LoopbackServer { host == .api ? api : cdn }
}
