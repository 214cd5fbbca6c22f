// Limits of concurrent exchanges, the order of waiting calls, and rates of requests to a host.
import Errand
import ErrandTesting
import Foundation

struct Search: APIRequest {
  let text: String
  var path: Path { "/search/\(text)" }
  typealias Response = String
}

struct Prefetch: APIRequest {
  let number: Int
  var path: Path { "/pages/\(number)" }
  var priority: CallPriority { .low }
  typealias Response = String
}

let server = try LoopbackServer { request in .ok(request.path) }

// snippet.limits
var configuration = ClientConfiguration(baseURL: server.url)
configuration.admission = AdmissionLimits(
  perHost: 6, total: 24, waiting: 1_000, ageing: .seconds(5))
let client = APIClient(configuration)
// snippet.end

// snippet.full
let outcome = await client.outcome(of: Search(text: "swift"))
if outcome.error?.code == .queueFull { print("too much at once; later") }
// snippet.end

// snippet.priority
let page = CallOwner()
let call = client.start(Prefetch(number: 2), options: .owner(page)) { text in
  print(text)
}
call.change(priority: .high)  // the user opened that page
// snippet.end

// snippet.incremental
struct Story: APIRequest {
  let number: Int
  var path: Path { "/stories/\(number)" }
  var headers: RequestHeaders { ["Priority": "u=2, i"] }  // i: the text is shown while it arrives
  typealias Response = String
}
// snippet.end

// snippet.rates
client.configure {
  $0.admission.rates = [
    HostRate("api.example.com", requests: 10, burst: 20),
    HostRate(".slow.example", requests: 100, per: .seconds(60)),
    HostRate("reports.example.com", requests: 1, per: .seconds(5)),  // one in five seconds
  ]
}
// snippet.end

// snippet.server
client.configure {
  $0.admission.rates = [
    .followingServer("api.example.com"),
    HostRate(".slow.example", requests: 100, per: .seconds(60), followsServer: true),
  ]
}
// snippet.end

// snippet.breaker
client.configure { $0.servers.breaker = BreakerRule() }
// snippet.end

// snippet.eagerbreaker
let eager = BreakerRule(share: 0.3, window: 50, least: 10, pause: .seconds(20), trials: 5)
client.configure { $0.servers.breaker = eager }
// snippet.end

// snippet.open
if let open = outcome.error?.cause as? CircuitOpen { print("later: at most \(open.timeLeft)") }
// snippet.end

// snippet.counts
let (running, waiting) = client.admission
let here = client.admission(at: "api.example.com")
print("\(running) run, \(waiting) wait; at that host \(here.running) and \(here.waiting)")
// snippet.end
