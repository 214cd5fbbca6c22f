// The flight record: why a call did what it did.
import Errand
import ErrandRecord
import ErrandTesting
import Foundation

struct GetFeed: APIRequest {
  var path: Path { "/feed" }
  var retries: RetryPolicy { RetryPolicy(firstDelay: .zero, busyDelay: .zero) }
  typealias Response = String
}

let server = try LoopbackServer { $0.number == 1 ? .status(503) : .ok("news") }
var configuration = ClientConfiguration(baseURL: server.url)
// snippet.on
configuration.record = .ring(calls: 500)
// snippet.end
let client = APIClient(configuration)

// snippet.why
_ = try await client.send(GetFeed())
if let call = client.flightRecord.calls.last {
  print(call.why)
}
// snippet.end

// snippet.number
let call = client.start(GetFeed())
// …
let recorded = client.flightRecord.call(call.id)
// snippet.end
print(recorded?.duration ?? .zero)

// snippet.decisions
for call in client.flightRecord.calls {
  for step in call.decisions {
    if case .notRetried(let reason, _, let obstacle) = step.decision {
      print(call.requestType, reason, obstacle)
    }
  }
}
// snippet.end

// snippet.har
let file = URL.temporaryDirectory.appending(path: "calls.har")
try client.flightRecord.har().write(to: file)
// snippet.end
try? FileManager.default.removeItem(at: file)

// snippet.page
let page = try FlightPage(archive: client.flightRecord.har())
let pageFile = URL.temporaryDirectory.appending(path: "calls.html")
try page.html.write(to: pageFile)
// snippet.end
try? FileManager.default.removeItem(at: pageFile)

// snippet.live
let live = try await FlightLivePage(of: client.flightRecord)
print(live.url)
// … until the page is no longer needed:
live.stop()
// snippet.end

// snippet.detail
configuration.record = .ring(calls: 500, detail: .addresses, bodyLimit: 4_096)
// snippet.end

let url = URL.temporaryDirectory.appending(path: "calls.flight")
// snippet.file
let flightFile = try FlightFile(at: url, recording: client.flightRecord, limit: 8 << 20)
// snippet.end
_ = try await client.send(GetFeed())

// snippet.read
let archive = try HTTPArchive(flightFile: url)
for call in archive.calls where call.failure != nil {
  print(call.id, call.url, call.decisions.map(\.text))
}
// snippet.end

// snippet.counts
if flightFile.counts.lost > 0 {
  print(flightFile.counts.lastFailure ?? "")
}
// snippet.end
try? FileManager.default.removeItem(at: url)
