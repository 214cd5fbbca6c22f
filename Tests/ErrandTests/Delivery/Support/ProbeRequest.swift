import Errand
import ErrandTesting

/// A request that records its hooks and has its own accessory.
struct ProbeRequest: APIRequest {
  typealias Response = String

  let events: Recorded<String>
  let hook: Latch

  var path: Path { "/probe" }
  var delivery: Delivery<String> {
    Delivery(
      beforeCompletion: { [events, hook] _ in
        events.append("before")
        try? await hook.wait()
      },
      afterCompletion: { [events] in events.append("after \($0.told)") }, accessories: [Noter("request", events)])
  }
}
