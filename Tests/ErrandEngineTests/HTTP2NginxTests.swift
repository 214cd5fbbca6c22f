#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// HTTP/2 in cleartext with nginx. The tests also check that responses arrived over HTTP/2.
  struct HTTP2NginxTests {
    private static func address(_ variable: String = "ERRAND_NGINX_H2C") throws -> String {
      try #require(
        ProcessInfo.processInfo.environment[variable],
        "\(variable) is not set: run the tests by `make test`, which starts the servers")
    }

    private static func get(
      _ path: String, _ transport: EngineTransport, fields: HTTPFields = [:]
    ) async throws -> HTTPResponse {
      let request = try HTTPRequest(url: address() + path, fields: fields)
      let response = try await transport.send(Exchange(request: request))
      #expect(response.metrics.version == .http2)
      return response
    }

    @Test func `nginx and the engine agree on the protocol`() async throws {
      let transport = try HTTP2.transport()
      #expect(try await Self.get("/protocol", transport).text == "HTTP/2.0\n")
      #expect(try await Self.get("/empty", transport).status == 204)
      #expect(try await Self.get("/missing", transport).status == 404)
      #expect(try await Self.get("/protocol", transport).metrics.isConnectionReused == true)
    }

    @Test func `bursts of compressed responses never pause`() async throws {
      let transport = try HTTP2.transport()
      var slowest = Duration.zero
      for _ in 0..<40 {
        let begun = ContinuousClock.now
        let reused = try await withThrowingTaskGroup(of: Bool.self) { group in
          for _ in 0..<50 {
            group.addTask {
              let response = try await Self.get("/10k.json", transport, fields: ["Accept-Encoding": "gzip"])
              #expect(response.status == 200 && response.fields["Content-Length"] == nil && response.body.count > 1000)
              return response.metrics.isConnectionReused == true
            }
          }
          return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(reused >= 49)
        slowest = max(slowest, ContinuousClock.now - begun)
      }
      #expect(isSanitized || slowest < .seconds(5))
    }

    @Test func `requests in a row never pause`() async throws {
      let transport = try HTTP2.transport()
      var times: [Duration] = []
      for _ in 0..<120 {
        let begun = ContinuousClock.now
        #expect(try await Self.get("/200b", transport).body.count == 200)
        times.append(ContinuousClock.now - begun)
      }
      // nginx keeps the content until its headers are acknowledged. A delayed acknowledgement would cost each request 40
      // ms, except the first ones. On a busy machine, some requests are slow for other reasons.
      #expect(isSanitized || times.dropFirst(40).min().map { $0 < .milliseconds(20) } == true)
    }

    @Test func `a file arrives with every byte`() async throws {
      let folder = URL(filePath: try Self.address("ERRAND_NGINX_FILES"))
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      let transport = try HTTP2.transport()
      var count = 0
      for name in names where !name.hasPrefix(".") {
        let file = folder.appending(path: name)
        guard let expected = try? Data(contentsOf: file), expected.count < 20 << 20 else { continue }
        #expect(try await Self.get("/\(name)", transport).body == expected)
        count += 1
      }
      #expect(count > 2)
    }

    @Test(arguments: [1, 100_000, 3_000_000])
    func `nginx's response before the body is the response`(size: Int) async throws {
      let transport = try HTTP2.transport()
      for _ in 0..<20 {
        let body = HTTPBody(Data(repeating: 7, count: size))
        let response = try await transport.send(HTTP2.post(try Self.address() + "/early", body))
        #expect(response.status == 413 && response.text == "too much\n" && response.metrics.version == .http2)
      }
    }

    /// The checks that concern the client and not the connection to the server of the check.
    private static let forwarded: Set<String> = [
      "417 is delivered once", "body at the limit is accepted", "body beyond the limit",
      "concurrent exchanges are independent", "deadline ends a silent call in time",
      "deadline ends a slow body in time",
      "endless body", "error body beyond the limit is truncated",
      "error of a sink reaches the caller", "error of a source ends the exchange", "error page does not reach the sink",
      "idle time-out ends a silent call", "long error page is truncated", "many deadlines end in time",
      "no field is added to a request", "paused sink continues after resume", "paused sink is not idle",
      "progress includes the last byte", "progress of a small body is reported once",
      "resume during the pausing write counts", "sink receives the body in pieces", "slow body is not idle",
      "source arrives complete and in order", "source may have no data yet", "source must match its length",
      "stop ends a paused body", "stop ends a waiting source", "stop ends the wait for a connection",
      "stop ends the wait for response headers", "stop ends the wait for the body", "stopped call sends nothing",
    ]

    @Test func `every forwarded check exists`() {
      #expect(Self.forwarded.subtracting(TransportConformance.every.map(\.name)).isEmpty)
    }

    /// nginx forwards each request to the server of the check.
    @Test(arguments: TransportConformance.all(for: EngineTransport()).filter { forwarded.contains($0.name) })
    func `passes the conformance tests through a proxy`(_ check: TransportConformance.Check) async throws {
      let socket = try Self.address("ERRAND_NGINX_H2C_SOCKET")
      try await check.run(HTTP2.transport { $0.unixSocket = socket })
    }

    @Test(arguments: [0, 5, 40_000]) func `nginx retires a connection without a loss`(size: Int) async throws {
      let server = try LoopbackServer { request in .ok(request.path) }
      let transport = try HTTP2.transport()
      let url = try Self.address("ERRAND_NGINX_H2C_RETIRING")
      let port = server.port
      let failures = await HTTP2.send400(size, over: transport) { number in
        ("\(url)/relay?port=\(port)&name=n\(number)", "/n\(number)")
      }
      #expect(failures == [])
      let paths = server.requests.map(\.path)
      #expect(paths.count == 400 && Set(paths).count == 400)
    }
  }
#endif
