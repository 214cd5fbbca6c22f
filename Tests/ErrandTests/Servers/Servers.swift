import Errand
import Foundation
import Testing

/// The real servers that the test script started. One that is missing fails the test that needs it.
enum Servers {
  /// The address under a variable of the environment.
  static func address(_ variable: String) throws -> String {
    try #require(
      ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 },
      "\(variable) is not set: run the tests by `make test`, which starts the servers")
  }

  /// A client for httpbin.
  static func httpbin(_ change: (inout ClientConfiguration) -> Void = { _ in }) throws -> APIClient {
    try client(address("ERRAND_HTTPBIN"), change)
  }

  /// A client for nginx in cleartext.
  static func nginx(_ change: (inout ClientConfiguration) -> Void = { _ in }) throws -> APIClient {
    try client(address("ERRAND_NGINX"), change)
  }

  /// A client for one of nginx's TLS ports that trusts the tests' own authority, and nobody else.
  static func tls(_ variable: String, _ change: (inout CurlConfiguration) -> Void = { _ in }) throws -> APIClient {
    var curl = CurlConfiguration()
    curl.certificateAuthority = .file(path: try address("ERRAND_NGINX_CA"))
    change(&curl)
    let transport = try CurlTransport(curl)
    return try client(address(variable)) { $0.transport = .own(transport) }
  }

  private static func client(_ base: String, _ change: (inout ClientConfiguration) -> Void) throws -> APIClient {
    var configuration = ClientConfiguration(baseURL: base)
    change(&configuration)
    return APIClient(configuration)
  }
}

/// A request whose parts are given one by one.
struct Probe: APIRequest {
  var path: Path
  var method = HTTPMethod.get
  var arguments = Arguments()
  var argumentFormat = ArgumentFormat.byMethod
  var body: RequestBody?
  var headers = RequestHeaders()
  var credential = RequestCredential.inherited
  var statusRule: StatusRule?
  var redirects: RedirectPolicy?
  typealias Response = JSONValue
  typealias ErrorBody = JSONValue

  init(_ path: Path, _ change: (inout Probe) -> Void = { _ in }) {
    self.path = path
    change(&self)
  }
}

/// The same with the body as text.
struct TextProbe: APIRequest {
  let path: Path
  typealias Response = String
}

/// The same with the body as bytes.
struct BytesProbe: APIRequest {
  let path: Path
  var method = HTTPMethod.get
}

/// The error a call ends with; a success is the test's failure.
func failure<R: APIRequest>(_ client: APIClient, _ request: R, _ options: CallOptions = CallOptions()) async throws -> APIError {
  try #require(await client.outcome(of: request, options: options).error, "the call succeeded")
}
