@testable import ErrandCore
import Errand
import ErrandSupport
import ErrandTesting
import Foundation

/// A client on a clock that stands, over a scripted server that says what it is asked for.
final class GroupServer: Sendable {
  /// Held answers wait here.
  let latch = Latch()
  /// Broken answers wait here.
  let breaks = Latch()
  let clock = ManualClock()
  let transport: ScriptedTransport
  let client: APIClient
  private let flow: Flow

  /// How many exchanges run, and how many did at most.
  private final class Flow: Sendable {
    private let counts = Locked((now: 0, peak: 0))

    var peak: Int { counts.withLock { $0.peak } }

    func enter() {
      counts.withLock { counts in
        counts.now += 1
        counts.peak = max(counts.peak, counts.now)
      }
    }

    func leave() { counts.withLock { $0.now -= 1 } }
  }

  init(_ change: (inout ClientConfiguration) -> Void = { _ in }) {
    let flow = Flow()
    self.flow = flow
    transport = ScriptedTransport { [latch, breaks, clock] request in
      flow.enter()
      defer { flow.leave() }
      let name = request.url.path.split(separator: "/").last.map(String.init) ?? ""
      switch request.url.path.split(separator: "/").first {
      case "held": try await latch.wait()
      case "broken":
        try await breaks.wait()
        return .text("no", status: 500)
      case "timed": clock.advance(by: .milliseconds(Int(name) ?? 0))
      case "moved":
        return ScriptedAnswer(status: 302, fields: ["Location": "/words/\(name)"], body: Data("gone elsewhere".utf8))
      default: break
      }
      return .text(name)
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.timers = clock
    configuration.joining = .never
    change(&configuration)
    client = APIClient(configuration)
  }

  /// The most exchanges that ever ran at once.
  var peak: Int { flow.peak }

  /// The paths that were asked for, in order.
  var paths: [String] { transport.requests.map(\.url.path) }

  /// Whatever is left over after the end; empty where all is well.
  func leftovers() async -> [String] {
    let registry = client.registry
    var found: [String] = []
    if await !eventually({ registry.running.isEmpty }) { found.append("\(registry.running.count) run") }
    if client.admission != (0, 0) { found.append("admission \(client.admission)") }
    if clock.pending != 0 { found.append("\(clock.pending) timers") }
    return found
  }
}

/// Asks for a text.
struct Words: APIRequest {
  typealias Response = String
  let text: String
  let isHeld: Bool
  init(_ text: String, latch isHeld: Bool = false) {
    self.text = text
    self.isHeld = isHeld
  }
  var path: Path { isHeld ? "/held/\(text)" : "/words/\(text)" }
}

/// Asks for bytes.
struct Bytes: APIRequest {
  let text: String
  init(_ text: String) { self.text = text }
  var path: Path { "/bytes/\(text)" }
}

/// Asks for a number.
struct Number: APIRequest {
  typealias Response = Int
  let number: Int
  init(_ number: Int) { self.number = number }
  var path: Path { "/number/\(number)" }
}

/// Asks for a number that is kept for a minute.
struct Kept: APIRequest {
  typealias Response = Int
  let number: Int
  init(_ number: Int) { self.number = number }
  var path: Path { "/number/\(number)" }
  var cache: CachePolicy { .lifetime(.seconds(60)) }
}

/// Turns the clock by so many milliseconds while it is answered.
struct Timed: APIRequest {
  typealias Response = Int
  let milliseconds: Int
  init(_ milliseconds: Int) { self.milliseconds = milliseconds }
  var path: Path { "/timed/\(milliseconds)" }
}

/// Is answered with 500.
struct Broken: APIRequest {
  var path: Path { "/broken/x" }
}

/// Asks for a text that is wanted or not: so a list of one kind has both.
struct Wish: APIRequest {
  typealias Response = String
  /// `ok`, `held` or `broken`.
  let wish: String
  init(_ wish: String) { self.wish = wish }
  var path: Path { "/\(wish)/\(wish)" }
}

/// A step that waits for something that is no call.
struct Waiting: GroupStep {
  let latch: Latch
  var isStubborn = false
  var value = "late"
  func run(in group: GroupScope) async throws(APIError) -> String {
    if isStubborn {
      await latch.waitStubbornly()
      return value
    }
    guard (try? await latch.wait()) != nil else { throw APIError(.cancelled, .cancelled, "The wait was cancelled.") }
    return value
  }
}
