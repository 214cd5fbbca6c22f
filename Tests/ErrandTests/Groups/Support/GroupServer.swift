import Errand
import ErrandTesting
import Foundation

/// A client over a scripted server that says what it is asked for.
final class GroupServer: Sendable {
  /// Held answers wait here.
  let latch = Latch()
  /// Broken answers wait here.
  let breaks = Latch()
  let transport: ScriptedTransport
  let client: APIClient

  init(_ change: (inout ClientConfiguration) -> Void = { _ in }) {
    transport = ScriptedTransport { [latch, breaks] request in
      let name = request.url.path.split(separator: "/").last.map(String.init) ?? ""
      switch request.url.path.split(separator: "/").first {
      case "held":
        try await latch.wait()
        return .text(name)
      case "broken":
        try await breaks.wait()
        return .text("no", status: 500)
      default: return .text(name)
      }
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    change(&configuration)
    client = APIClient(configuration)
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

/// Is answered with 500.
struct Broken: APIRequest {
  var path: Path { "/broken/x" }
}
