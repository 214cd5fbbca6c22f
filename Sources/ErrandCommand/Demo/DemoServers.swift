import ErrandSupport
import ErrandTesting

/// The two servers that the demo plays against; they answer as the scene on stage says.
final class DemoServers: Sendable {
  /// Keeps the scene that is on stage; the servers' threads look here.
  private final class Playbill: Sendable {
    let scene = Locked<(any DemoScene)?>(nil)

    func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
      scene.withLock { $0 }?.answer(request, from: host) ?? .status(503, body: "no scene is on stage\n")
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

  /// Lets a scene answer from now on.
  func show(_ scene: any DemoScene) { playbill.scene.withLock { $0 = scene } }

  subscript(host: DemoHost) -> LoopbackServer { host == .api ? api : cdn }
}
