// A client's configuration is a value; a change applies to calls that start later.
import Errand
import ErrandChecksum
import ErrandCore
import ErrandHTTP
import ErrandTesting
import Foundation
import Synchronization

struct Version: APIRequest {
  var path: Path { "/version" }
  typealias Response = String
}

let server = try LoopbackServer { _ in .ok("1.0") }
let key = Data("a secret that client and server share".utf8)

// snippet.environments
var configuration = ClientConfiguration(baseURL: server.url)
configuration.servers.others = [
  ServerEnvironment(
    "production", baseURL: "https://api.example.com", cdnURL: "https://cdn.example.com"),
  ServerEnvironment("staging", baseURL: server.url + "/staging"),
]
let client = APIClient(configuration)
client.configure {
  if !$0.servers.use("staging") { print("There is no environment of this name.") }
}

// snippet.filters
client.configure { configuration in
  configuration.headers = ["X-Client": "sample"]
  configuration.additions.arguments = { ["language": "de"] }
  configuration.additions.bodyArguments = { ["device": "phone"] }
  configuration.additions.filters.append(
    URLFilter("version") { target, request in
      target.arguments["version"] = "1.2.3"
      if request is Version { target.path = "/v2" + target.path }
    })
}

client.configure { $0.additions.filters.removeAll { $0.name == "version" } }

// snippet.credentials
final class Session: CredentialProvider {
  let account: String? = "ada"

  func credential(for account: String?) async throws -> Credential? {
    .bearer("token of \(account ?? "nobody")")
  }
}

client.configure { $0.credentials = Session() }

// snippet.interceptors
struct Unencrypted: Error {}

struct Secrecy: Interceptor {
  func intercept(
    _ request: HTTPRequest, context: CallContext, next: Next
  ) async throws -> HTTPResponse {
    var request = request
    if let body = request.body {
      guard let data = body.data else { throw Unencrypted() }
      request.body = HTTPBody(turned(data))
    }
    var response = try await next(request)
    response.body = turned(response.body)
    return response
  }
}

client.configure {
  // Around the call: before the request is frozen, and before the response is validated.
  $0.interceptors.calls = [Secrecy()]
  // Around each exchange: these see the final request.
  $0.interceptors.exchanges = [
    Signing { request in
      let text = "\(request.method.rawValue)\n\(request.url.string)"
      let code = try MessageAuthentication.hmacSHA256(of: Data(text.utf8), key: key)
      request.fields.append(HTTPField("X-Signature", code.base64EncodedString()))
    }
  ]
}

// snippet.clock
/// Learns the server's time from a response that rejects a request because of its time.
final class ServerClock: Interceptor {
  private let lead = Mutex(0.0)  // the seconds by which the server's clock is ahead

  var now: Date { Date.now + lead.withLock { $0 } }

  func intercept(
    _ request: HTTPRequest, context: CallContext, next: Next
  ) async throws -> HTTPResponse {
    let used = lead.withLock { $0 }  // another call may change it until the response arrives
    let response = try await next(request)
    guard response.status == 403, request.url.host == "api.example.com",
      request.body?.isReplayable ?? true,
      let time = response.fields["Date"].flatMap({ HTTPDate.date(of: $0) }),
      abs(time.timeIntervalSinceNow - used) > 30
    else { return response }
    lead.withLock { $0 = time.timeIntervalSinceNow }
    return try await next(request)  // is signed again, with the corrected time
  }
}

let clock = ServerClock()
client.configure {
  $0.interceptors.exchanges = [
    clock,
    Signing { request in
      let date = HTTPDate.text(of: clock.now)
      let text = "\(request.method.rawValue)\n\(request.url.string)\n\(date)"
      let code = try MessageAuthentication.hmacSHA256(of: Data(text.utf8), key: key)
      request.fields["X-Date"] = date
      request.fields.append(HTTPField("X-Signature", code.base64EncodedString()))
    },
  ]
}

// snippet.limits
client.configure { configuration in
  configuration.timeouts = Timeouts(
    connect: .seconds(5), idle: .seconds(20), total: .seconds(60))
  configuration.limits.bodyBytes = 4 << 20
  configuration.admission = AdmissionLimits(perHost: 6, total: 24)
  configuration.redirects = .follow(limit: 3)
  configuration.formats.jsonDecoding = .fast(
    dates: .iso8601, keys: .convertFromSnakeCase)
}

// snippet.transports
struct Teapot: Transport {
  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    HTTPResponse(head: ResponseHead(status: 418), url: exchange.request.url)
  }
}

TransportRegistry.shared.register("teapot") { Teapot() }
let pot = APIClient(baseURL: "http://pot.example")
pot.configure { $0.transport = .named("teapot") }
print(await pot.outcome(of: Version()).error?.message ?? "")

// snippet.logging
client.configure { $0.log = { line in print(line) } }

struct CurlLine: Interceptor {
  func intercept(
    _ request: HTTPRequest, context: CallContext, next: Next
  ) async throws -> HTTPResponse {
    print(request.curlCommand())  // secrets masked
    return try await next(request)
  }
}

client.configure { $0.interceptors.exchanges.append(CurlLine()) }

print(try await client.response(Version()).metrics)

for hop in try await client.response(Version()).metrics.exchanges {
  print(hop.method ?? "", hop.url?.path ?? "", hop.status ?? "no answer", hop.total ?? .zero)
}
// snippet.end

print(turned(try await client.response(Version()).raw.body).count)

func turned(_ bytes: Data) -> Data { Data(bytes.map { $0 ^ 0x20 }) }

// snippet.netrc
func useLogins(in configuration: inout ClientConfiguration) throws {
  let logins = try Netrc(contentsOf: URL(filePath: "/etc/app/netrc"))
  configuration.credentials = logins.credential(for: "api.example.com").map { FixedCredential($0) }
}
// snippet.end
