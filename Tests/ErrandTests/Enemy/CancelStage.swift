import Errand
import ErrandTesting
import Foundation
import TestSupport

/// The configuration that holds a call at one place in the pipeline.
struct CancelStage: Sendable {
  let place: LifeAttackTests.Place
  let latch = Latch()
  let gate = Gate()

  init(_ place: LifeAttackTests.Place) { self.place = place }

  func server() throws -> LoopbackServer {
    var options = LoopbackOptions()
    if place == .connecting { options.greeting = { [gate] _ in .stall(until: gate) } }
    if place == .inUpload { options.reception = { [gate] _ in .held(gate) } }
    return try LoopbackServer(options) { [place, gate] request in
      switch place {
      case .inHead: LoopbackAnswer([.bytes(Array("HTTP/1.1 200".utf8)), .wait(gate)])
      case .inBody: .ok("body").stalled(after: 2, until: gate)
      case .redirected where request.path == "/p": .redirect(to: "/q")
      case .decoding: .ok("body")
      default: .stall(until: gate)
      }
    }
  }

  func prepare(_ configuration: inout ClientConfiguration) {
    if place == .queued { configuration.admission = AdmissionLimits(perHost: 1) }
    if place == .inInterceptor {
      configuration.interceptors.calls = [
        Around { [latch] request, _, next in
          try await latch.wait()
          return try await next(request)
        }
      ]
    }
    if place == .inCredential { configuration.credentials = Waiting(latch: latch) }
  }

  var request: HeldRequest {
    HeldRequest(body: place == .inUpload ? Data(count: 8 << 20) : nil, latch: place == .decoding ? latch : nil)
  }

  /// Returns when the call has reached its place.
  func reached(_ server: LoopbackServer, _ client: APIClient) async throws {
    switch place {
    case .connecting: try await server.wait { $0.connectionCount == 1 }
    case .silent, .inHead, .inBody, .inUpload: try await gate.reached()
    case .redirected: try await gate.reached()
    case .queued: _ = await eventually { client.admission.waiting == 1 }
    case .inInterceptor, .inCredential, .decoding: await latch.reached()
    }
  }

  /// Releases work that a cancel does not reach.
  func `let`() { if place == .decoding { latch.open() } }

  private struct Waiting: CredentialProvider {
    let latch: Latch
    var account: String? { "ada" }
    func credential(for account: String?) async throws -> Credential? {
      try await latch.wait()
      return nil
    }
  }
}

/// A request whose `beforeCompletion` hook can be held.
struct HeldRequest: APIRequest {
  typealias Response = String
  let bytes: Data?
  let latch: Latch?

  init(body: Data?, latch: Latch?) {
    bytes = body
    self.latch = latch
  }

  var path: Path { "/p" }
  var method: HTTPMethod { bytes == nil ? .get : .post }
  var body: RequestBody? { bytes.map { .bytes($0) } }
  var delivery: Delivery<String> {
    guard let latch else { return Delivery() }
    return Delivery(beforeCompletion: { _ in try? await latch.wait() })
  }
}
