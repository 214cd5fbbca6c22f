// Trust: authorities, pins, client certificates, addresses, sockets and resolvers.
#if os(Linux)
  import Errand
  import ErrandEngine
  import ErrandHTTP
  import Foundation

  var settings = EngineConfiguration()

  // snippet.trusting
  func client(trusting authority: String) throws -> APIClient {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com")
    configuration.transport = try .trusting(authorityFile: authority)
    return APIClient(configuration)
  }
  // snippet.end

  // snippet.authority
  func trust(_ pem: Data, in settings: inout EngineConfiguration) {
    settings.certificateAuthority = .certificates(pem)  // or .file(path: "/etc/our/authority.pem")
  }
  // snippet.end

  // snippet.pins
  func pin(_ keyInUse: String, _ keyInReserve: String, in settings: inout EngineConfiguration) {
    settings.pins = [
      PublicKeyPins(host: "api.example.com", sha256: [keyInUse, keyInReserve])
    ]
  }
  // snippet.end

  // snippet.client
  func show(
    _ certificatePath: String, _ keyPath: String, _ passphrase: String, in settings: inout EngineConfiguration
  ) {
    settings.clientCertificates = [
      .pem(
        certificate: .file(path: certificatePath), key: .file(path: keyPath), passphrase: passphrase,
        hosts: [".example.com"])
    ]
  }
  // snippet.end

  // snippet.test
  func trustTestServer(_ pem: Data, in settings: inout EngineConfiguration) {
    settings.certificateAuthority = .test(.data(pem))
  }
  // snippet.end

  // snippet.addresses
  settings.addressPolicy = .publicOnly
  // snippet.end

  let transport = try EngineTransport(settings)

  // snippet.reload
  func certificateWasRenewed(_ transport: EngineTransport) throws {
    try transport.reload()
  }
  // snippet.end

  // snippet.socket
  var local = EngineConfiguration()
  local.unixSocket = "/run/service.sock"
  let service = APIClient(baseURL: "http://service")
  let localTransport = try EngineTransport(local)
  service.configure { $0.transport = .own(localTransport) }
  // snippet.end

  // snippet.resolver
  struct Registry: NameResolver {
    let table: [String: [String]]

    func addresses(of host: String, port: Int) async throws -> [String] {
      table[host] ?? []
    }
  }

  let registry = Registry(table: ["api.example.com": ["192.0.2.7", "2001:db8::7"]])
  let resolving = try EngineTransport(EngineConfiguration(), resolver: registry)
  // snippet.end
  print(resolving.capabilities)

  // snippet.errors
  func advice(for error: APIError) -> String? {
    switch error.transportKind {
    case .certificateNotYetValid: "Check whether the clock of this device is right."
    case .pinMismatch: "This may be an attack, or the app is too old. Please look for an update."
    case .clientCertificateRequired, .clientCertificateRefused: "Please enrol this device again."
    case let kind? where kind.concernsTLS: "The connection is not safe."
    default: nil
    }
  }
// snippet.end
#endif
