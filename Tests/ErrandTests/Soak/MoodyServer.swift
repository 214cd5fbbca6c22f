import ErrandSupport
import ErrandTesting

/// A server whose responses are determined by their paths, except that one in four has a random fault.
final class MoodyServer: Sendable {
  private struct Mood {
    var random: SeededNumbers
    var token = 0
    var posts: [String: Int] = [:]
  }

  /// The state that is shared with the server's thread.
  private final class Shared: Sendable {
    let mood: Locked<Mood>

    init(seed: UInt64) { mood = Locked(Mood(random: SeededNumbers(seed: seed))) }

    func answer(_ request: RecordedRequest) -> LoopbackAnswer {
      mood.withLock { mood in
        let right = MoodyServer.right(request, &mood)
        return mood.random.happens(25) ? MoodyServer.wrong(Int.random(in: 0..<9, using: &mood.random), right) : right
      }
    }
  }

  static let fileSize = 50_000

  private let server: LoopbackServer
  private let shared: Shared

  init(seed: UInt64) throws {
    let shared = Shared(seed: seed)
    self.shared = shared
    server = try LoopbackServer { shared.answer($0) }
  }

  var url: String { server.url }
  /// The number of times each POST arrived.
  var posts: [String: Int] { shared.mood.withLock { $0.posts } }
  /// The token that is currently valid.
  var token: Int { shared.mood.withLock { $0.token } }

  func stop() { server.stop() }

  private static func right(_ request: RecordedRequest, _ mood: inout Mood) -> LoopbackAnswer {
    if request.path.hasPrefix("/file") { return .generated(count: fileSize) }
    if request.method == "POST" { mood.posts[request.path, default: 0] += 1 }
    guard request.path.hasPrefix("/secret") else { return .ok("right \(request.path)") }
    // The token expires at random.
    if mood.random.happens(5) { mood.token += 1 }
    let token = request.headers["Authorization"]?.split(separator: " ").last.flatMap { Int($0) } ?? -1
    return token >= mood.token ? .ok("right \(request.path)") : .status(401, body: "who?")
  }

  private static func wrong(_ fault: Int, _ right: LoopbackAnswer) -> LoopbackAnswer {
    switch fault {
    case 0: .closeBeforeAnswer
    case 1: right.reset(after: 3)
    case 2: right.cut(after: 3)
    case 3: right.cut(after: 10, of: .everything)
    case 4: right.stalled(after: 2)
    case 5: .raw("garbage\u{1}\r\n\r\n")
    case 6: .status(429, headers: ["Retry-After": "0"], body: "slower")
    case 7: .status(503, body: "busy")
    default: right.closing()
    }
  }
}
