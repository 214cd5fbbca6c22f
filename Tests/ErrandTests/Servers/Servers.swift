import Errand
import ErrandCore
import Foundation
import Testing

/// The real servers that the test script starts. A missing server fails each test that needs it.
enum Servers {
  /// The address in an environment variable.
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
  static func nginx(
    over carrier: TrustCarrier = .engine, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws -> APIClient {
    let transport = try carrier.transport()
    return try client(address("ERRAND_NGINX")) {
      $0.transport = .own(transport)
      change(&$0)
    }
  }

  /// A client for one of nginx's TLS ports. It trusts only the authority of the tests.
  static func tls(
    _ variable: String, over carrier: TrustCarrier = .engine,
    _ change: (inout any TrustConfiguration) -> Void = { _ in }
  ) throws -> APIClient {
    let transport = try carrier.transport { settings in
      settings.certificateAuthority = .file(path: try address("ERRAND_NGINX_CA"))
      change(&settings)
    }
    return try client(address(variable)) { $0.transport = .own(transport) }
  }

  private static func client(_ base: String, _ change: (inout ClientConfiguration) -> Void) throws -> APIClient {
    var configuration = ClientConfiguration(baseURL: base)
    change(&configuration)
    return APIClient(configuration)
  }
}

/// A request in which a test can set every property.
struct Inquiry: APIRequest {
  var path: Path
  var method = HTTPMethod.get
  var arguments = Arguments()
  var argumentFormat = ArgumentFormat.byMethod
  var body: RequestBody?
  var headers = RequestHeaders()
  var credential = RequestCredential.inherited
  var statusRule: StatusRule = .inherited
  var redirects: RedirectPolicy = .inherited
  var formats: Formats { Formats(arguments: argumentFormat) }
  var validation: ResponseValidation { ResponseValidation(status: statusRule) }
  typealias Response = JSONValue
  typealias ErrorBody = JSONValue

  init(_ path: Path, _ change: (inout Inquiry) -> Void = { _ in }) {
    self.path = path
    change(&self)
  }
}

/// The same request with a text response.
struct TextProbe: APIRequest {
  let path: Path
  typealias Response = String
}

/// The same request with a response of bytes.
struct BytesProbe: APIRequest {
  let path: Path
  var method = HTTPMethod.get
}

/// The error of a call. If the call succeeds, the test fails.
func failure<R: APIRequest>(_ client: APIClient, _ request: R, _ options: CallOptions = CallOptions()) async throws
  -> APIError
{
  try #require(await client.outcome(of: request, options: options).error, "the call succeeded")
}
