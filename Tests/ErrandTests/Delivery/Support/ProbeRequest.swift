import Errand
import ErrandTesting

/// A request that records its hooks and has its own accessory.
struct ProbeRequest: APIRequest {
  typealias Response = String

  let events: Recorded<String>
  let hook: Latch

  var path: Path { "/probe" }
  var accessories: [any Accessory] { [Noter("request", events)] }
  var hooks: CompletionHooks<String>? {
    CompletionHooks(
      before: { [events, hook] _ in
        events.append("before")
        try? await hook.wait()
      },
      after: { [events] in events.append("after \($0.told)") })
  }
}
