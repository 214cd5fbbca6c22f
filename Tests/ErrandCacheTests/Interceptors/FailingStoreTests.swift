import Errand
import ErrandCore
import ErrandTesting
import Testing

/// A store that fails in one call, for each call in turn. All responses are correct nevertheless, and the store is used
/// again.
struct FailingStoreTests {
  /// A client and a server with two pages that a POST changes. One page may be served while fresh, the other is always
  /// validated.
  private func fixture(_ store: FailingStore, _ changes: Recorded<String>) -> CacheFixture {
    CacheFixture(store: store) { request, _ in
      let path = request.url.path
      if request.method == .post {
        changes.append(path)
        return .text("changed")
      }
      let tag = "\"\(Self.version(path, changes))\""
      let fields: HTTPFields = ["ETag": tag, "Cache-Control": path == "/kept" ? "max-age=600" : "no-cache"]
      return request.fields["If-None-Match"] == tag
        ? ScriptedAnswer(status: 304, fields: fields) : .page(Self.text(path, changes), fields)
    }
  }

  private static func version(_ path: String, _ changes: Recorded<String>) -> Int {
    changes.all.count { $0 == path }
  }

  private static func text(_ path: String, _ changes: Recorded<String>) -> String {
    "\(path) \(version(path, changes))"
  }

  private static let steps = [
    "kept", "asked", "kept", "asked", "change kept", "kept", "change asked", "asked", "kept", "look", "wait", "kept",
    "asked",
  ]

  /// Runs all steps while the call with one number fails. Returns the number of calls.
  private func play(_ turn: Int, _ lookup: FailingStore.Lookup) async throws -> Int {
    let store = FailingStore(turn, lookup)
    let changes = Recorded<String>()
    let fixture = fixture(store, changes)
    for step in Self.steps {
      switch step {
      case "change kept", "change asked":
        let name = String(step.dropFirst("change ".count))
        #expect(try await fixture.client.send(Page.http(name, method: .post)) == "changed")
      case "look": _ = await fixture.miss(.http("nowhere"))
      case "wait": fixture.pass(700)
      default:
        let value = try await fixture.client.send(Page.http(step))
        #expect(value == Self.text("/\(step)", changes), "call \(turn), \(store.failed.all)")
      }
    }
    let calls = store.calls
    #expect(try await fixture.client.send(Page.http("kept")) == "/kept 1")
    let kept = await fixture.stored(Page.http("kept"))
    #expect(kept == "/kept 1", "call \(turn), \(store.failed.all)")
    return calls
  }

  @Test(arguments: FailingStore.Lookup.allCases)
  func `every call of the store fails in turn`(lookup: FailingStore.Lookup) async throws {
    var turn = 1
    while try await play(turn, lookup) >= turn { turn += 1 }
    #expect(turn > 12)
  }
}
