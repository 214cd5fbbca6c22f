import Errand
import ErrandHTTP
import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct AuthorityTests {
  @Test(arguments: TrustCarrier.allCases)
  func `authority given as bytes is trusted`(carrier: TrustCarrier) async throws {
    let authority = try TrustFixture.data("ca.pem")
    let client = try TrustFixture.client("ERRAND_NGINX_TLS", carrier) {
      $0.certificateAuthority = .certificates(authority)
    }
    #expect(try await client.send(BytesProbe(path: "/200b")).count == 200)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `given authority replaces system trust`(carrier: TrustCarrier) async throws {
    let stranger = try TrustFixture.data("stranger.pem")
    let client = try TrustFixture.client("ERRAND_NGINX_TLS", carrier) {
      $0.certificateAuthority = .certificates(stranger)
    }
    let error = try await failure(client, BytesProbe(path: "/200b"))
    #expect(error.transportKind == .unknownAuthority)
    #expect(error.message.contains("`certificateAuthority`"))
  }

  @Test func `a transport choice trusts an authority`() async throws {
    let address = try Servers.address("ERRAND_NGINX_TLS")
    for choice in [
      try TransportChoice.trusting(authorityFile: TrustFixture.path("ca.pem")),
      try .trusting(authorities: TrustFixture.data("ca.pem")),
    ] {
      var configuration = ClientConfiguration(baseURL: address)
      configuration.transport = choice
      #expect(try await APIClient(configuration).send(BytesProbe(path: "/200b")).count == 200)
    }
    var configuration = ClientConfiguration(baseURL: address)
    configuration.transport = try .trusting(authorities: TrustFixture.data("stranger.pem"))
    let error = try await failure(APIClient(configuration), BytesProbe(path: "/200b"))
    #expect(error.transportKind == .unknownAuthority)
  }

  @Test func `unusable choice of an authority throws`() throws {
    for fault in ["no/such/file", try TrustFixture.path("server.key")] {
      let error = #expect(throws: (any Error).self) { try TransportChoice.trusting(authorityFile: fault) }
      #expect(error.map { "\($0)".contains("cannot be read") || "\($0)".contains("holds no certificate") } == true)
    }
    #expect(throws: (any Error).self) { try TransportChoice.trusting(authorities: Data("no certificate".utf8)) }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `unusable authorities are refused`(carrier: TrustCarrier) throws {
    let nothing = try TrustFixture.refusal(carrier) { $0.certificateAuthority = .certificates(Data()) }
    #expect(nothing?.contains("holds no certificate") == true)
    let key = try TrustFixture.path("server.key")
    let noCertificate = try TrustFixture.refusal(carrier) { $0.certificateAuthority = .file(path: key) }
    #expect(noCertificate?.contains("holds no certificate") == true)
    let missing = try TrustFixture.refusal(carrier) { $0.certificateAuthority = .test(.file(path: "no/such/file")) }
    #expect(missing?.contains("cannot be read") == true)
  }

  /// `N` is a letter of Base64, but changes the type of the outermost element of the certificate.
  @Test(arguments: ["!", "N"], TrustCarrier.allCases)
  func `damaged certificate of several is named`(character: String, carrier: TrustCarrier) throws {
    let (first, last) = (try TrustFixture.data("ca.pem"), try TrustFixture.data("stranger.pem"))
    let damaged = try TrustFixture.damaged("server.pem", with: character)
    let bundles: [(Int, [Data])] = [
      (1, [damaged, first]), (2, [first, damaged, last]), (3, [first, last, damaged]),
    ]
    for (number, parts) in bundles {
      let bundle = Data(parts.joined())
      let refusal = try TrustFixture.refusal(carrier) { $0.certificateAuthority = .certificates(bundle) }
      #expect(refusal?.contains("is damaged at certificate \(number);") == true, "\(refusal ?? "accepted")")
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `bundle may contain keys and text`(carrier: TrustCarrier) throws {
    let names = ["ca.pem", "server.key", "client-locked.key", "server.pem", "client.csr", "stranger.pem"]
    var bundle = Data("authorities\n".utf8)
    for name in names { bundle += try TrustFixture.data(name) + Data("\n# end of \(name)\n".utf8) }
    let mixed = bundle
    let refusal = try TrustFixture.refusal(carrier) { $0.certificateAuthority = .certificates(mixed) }
    #expect(refusal == nil)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `new trust opens new connections`(carrier: TrustCarrier) async throws {
    let transport = try TrustFixture.transport(carrier)
    let client = TrustFixture.client(try Servers.address("ERRAND_DOOR_TLS"), transport)
    let first = try await client.send(Inquiry("/"))["connection"]
    #expect(try await client.send(Inquiry("/"))["connection"] == first)
    let (stranger, authority) = (try TrustFixture.path("stranger.pem"), try TrustFixture.path("ca.pem"))
    try transport.change { $0.certificateAuthority = .file(path: stranger) }
    #expect(try await failure(client, Inquiry("/")).transportKind == .unknownAuthority)
    try transport.change { $0.certificateAuthority = .file(path: authority) }
    #expect(try await client.send(Inquiry("/"))["connection"] != first)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `reload does not undo a change`(carrier: TrustCarrier) async throws {
    let file = try TrustFixture.path("ca.pem")
    let transport = try TrustFixture.transport(carrier) { $0.certificateAuthority = .file(path: file) }
    for number in 1...50 {
      try await withThrowingTaskGroup { group in
        group.addTask { try transport.reload() }
        group.addTask { try transport.change { $0.maximumIdleConnections = number } }
        try await group.waitForAll()
      }
      #expect(transport.settings.maximumIdleConnections == number)
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `changed file applies after a reload`(carrier: TrustCarrier) async throws {
    let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "errand-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "authority.pem")
    try TrustFixture.data("ca.pem").write(to: file)
    let transport = try TrustFixture.transport(carrier) { $0.certificateAuthority = .file(path: file.path) }
    let client = TrustFixture.client(try Servers.address("ERRAND_DOOR_TLS"), transport)
    let first = try await client.send(Inquiry("/"))["connection"]

    try Data("nothing".utf8).write(to: file)
    #expect { try transport.reload() } throws: { $0 is any InvalidSettings }
    #expect(try await client.send(Inquiry("/"))["connection"] == first)

    try TrustFixture.data("stranger.pem").write(to: file)
    try transport.reload()
    #expect(try await failure(client, Inquiry("/")).transportKind == .unknownAuthority)
  }

  // MARK: - Trust for tests

  @Test(arguments: TrustCarrier.allCases)
  func `test authority is trusted on loopback`(carrier: TrustCarrier) async throws {
    let authority = try TrustFixture.data("ca.pem")
    let client = try TrustFixture.client("ERRAND_NGINX_TLS", carrier) {
      $0.certificateAuthority = .test(.data(authority))
    }
    #expect(try await client.send(BytesProbe(path: "/200b")).count == 200)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `test authority still validates certificates`(carrier: TrustCarrier) async throws {
    for (variable, kind) in [
      ("ERRAND_NGINX_EXPIRED", TransportFailure.Kind.certificateExpired), ("ERRAND_NGINX_WRONG_HOST", .wrongHost),
    ] {
      let path = try TrustFixture.path("ca.pem")
      let client = try TrustFixture.client(variable, carrier) { $0.certificateAuthority = .test(.file(path: path)) }
      #expect(try await failure(client, BytesProbe(path: "/200b")).transportKind == kind)
    }
  }

  @Test(arguments: ["192.0.2.1", "10.0.0.1", "2001:db8::1"], TrustCarrier.allCases)
  func `test authority is limited to loopback`(address: String, carrier: TrustCarrier) async throws {
    let path = try TrustFixture.path("ca.pem")
    let transport = try TrustFixture.transport(carrier) {
      $0.certificateAuthority = .test(.file(path: path))
      $0.addressOverrides = ["api.example.com:443": address]
    }
    let error = try await failure(TrustFixture.client("https://api.example.com", transport), Inquiry("/"))
    #expect(error.transportKind == .forbiddenAddress)
    #expect(error.message.contains("api.example.com has the address \(address)"))
    #expect(error.message.contains("loopback"))
  }

  @Test(arguments: TrustCarrier.allCases)
  func `test authority excludes a proxy`(carrier: TrustCarrier) throws {
    let path = try TrustFixture.path("ca.pem")
    let refusal = try TrustFixture.refusal(carrier) {
      $0.certificateAuthority = .test(.file(path: path))
      $0.proxy = .url("http://127.0.0.1:3128")
    }
    #expect(refusal?.contains("test authority") == true)
  }

  /// OpenSSL frees its resources when the process exits, unless it is configured otherwise before its first use. In the
  /// mode `exit-late`, libcurl is initialised before any transport uses OpenSSL.
  @Test(arguments: TrustCarrier.allCases, ["exit", "exit-late"])
  func `custom authority does not crash the exit`(carrier: TrustCarrier, mode: String) async throws {
    let (url, authority) = (try Servers.address("ERRAND_DOOR_TLS"), try TrustFixture.path("ca.pem"))
    // The process exits while its transport still has memory, which a sanitizer would report as leaks.
    let environment = ["ASAN_OPTIONS": "detect_leaks=0"]
    for _ in 0..<5 {
      let run = try await BuiltProgram("MemoryProbe").run(
        [mode, url, authority, "\(carrier)"], environment: environment)
      #expect(run.status == 0, "\(run.error)")
    }
  }

  /// The library below reads the variable when it is first used, so the transport needs a process of its own.
  @Test(arguments: TrustCarrier.allCases)
  func `TLS keys are not logged`(carrier: TrustCarrier) async throws {
    let (url, authority) = (try Servers.address("ERRAND_DOOR_TLS"), try TrustFixture.path("ca.pem"))
    let keys = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: keys) }
    let environment = ["ASAN_OPTIONS": "detect_leaks=0", "SSLKEYLOGFILE": keys.path]
    let run = try await BuiltProgram("MemoryProbe").run(
      ["exit", url, authority, "\(carrier)"], environment: environment)
    #expect(run.status == 0, "\(run.error)")
    #expect((FileManager.default.contents(atPath: keys.path) ?? Data()).isEmpty)
  }
}
