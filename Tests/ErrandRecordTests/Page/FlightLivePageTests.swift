import Errand
import ErrandJSON
import ErrandTesting
import Foundation
import Testing

@testable import ErrandRecord

struct FlightLivePageTests {
  private struct Post: APIRequest {
    var name = "canary"
    var path: Path { "/\(name)?access_token=CANARY-query-1" }
    var method: HTTPMethod { .post }
    var headers: RequestHeaders { ["Authorization": "Bearer CANARY-bearer-2"] }
    var body: RequestBody? { .json(["password": "CANARY-password-3"]) }
    typealias Response = Data
  }

  private func client(answer: ScriptedAnswer = .text("ok"), bodyLimit: Int = 4_096) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com")
    configuration.transport = .own(ScriptedTransport { _ in answer })
    configuration.record = .ring(calls: 5, detail: bodyLimit > 4_096 ? .everything : .masked, bodyLimit: bodyLimit)
    return APIClient(configuration)
  }

  /// Sends a request for a path below the token's, and returns the connection.
  private func open(_ live: FlightLivePage, _ path: String = "") throws -> RawClient {
    let connection = try RawClient(live.url)
    let host = try #require(URL(string: live.url)?.port)
    let target = try #require(URL(string: live.url)?.path(percentEncoded: true))
    connection.write("GET \(target)\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(host)\r\n\r\n")
    return connection
  }

  @Test func `page has strict header fields`() async throws {
    let live = try await FlightLivePage(of: client().flightRecord)
    let page = try #require(open(live).readToEnd())
    #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n") && page.contains("data-mode=\"live\""))
    for field in [
      "Cache-Control: no-store", "Cross-Origin-Resource-Policy: same-origin", "Referrer-Policy: no-referrer",
      "X-Content-Type-Options: nosniff", "frame-ancestors 'none'",
    ] {
      #expect(page.contains(field), "\(field)")
    }
    #expect(!page.contains("Access-Control"))
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost: HOST\r\n\r\n", "404"),
    ("GET /00000000000000000000000000000000/ HTTP/1.1\r\nHost: HOST\r\n\r\n", "404"),
    ("GET TARGET HTTP/1.1\r\nHost: evil.example\r\n\r\n", "404"), ("GET TARGET HTTP/1.1\r\n\r\n", "404"),
    ("POST TARGET HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\n\r\nabc", "405"), ("\u{16}\u{3}\r\n\r\n", "400"),
    ("GET TARGET HTTP/1.1\r\nX: " + String(repeating: "x", count: 20_000), "431"),
  ])
  func `other requests are rejected and closed`(request: String, status: String) async throws {
    let live = try await FlightLivePage(of: client().flightRecord)
    let url = try #require(URL(string: live.url))
    let connection = try RawClient(live.url)
    connection.write(
      request.replacing("HOST", with: "127.0.0.1:\(url.port ?? 0)").replacing("TARGET", with: url.path()))
    let response = try #require(connection.readToEnd())
    #expect(response.hasPrefix("HTTP/1.1 \(status) "))
    #expect(response.hasSuffix("\r\n\r\n"))
  }

  @Test func `stream sends old and new calls without secrets`() async throws {
    let client = client()
    _ = await client.outcome(of: Post(name: "old"))
    let live = try await FlightLivePage(of: client.flightRecord)
    let stream = try open(live, "events")
    let first = try #require(stream.read(until: "\n\n"))
    #expect(first.contains("text/event-stream") && first.contains("/old?access_token="))
    _ = await client.outcome(of: Post(name: "new"))
    let second = try #require(stream.read(until: "/new?access_token="))
    let third = try #require(stream.read(until: "\n\n"))
    #expect(!(first + second + third).contains("CANARY"))
  }

  @Test func `long records are sent in turns`() async throws {
    let client = client()
    for number in 1...5 { _ = await client.outcome(of: Post(name: "call\(number)")) }
    var limits = LiveLimits()
    limits.callsPerTurn = 1
    let live = try FlightLivePage(of: client.flightRecord, limits: limits)
    let stream = try open(live, "events")
    for number in 1...5 { #expect(try #require(stream.read(until: "\n\n")).contains("/call\(number)?")) }
  }

  @Test func `slow request is closed`() async throws {
    var limits = LiveLimits()
    limits.headTime = .milliseconds(50)
    let live = try FlightLivePage(of: client().flightRecord, limits: limits)
    let connection = try RawClient(live.url)
    connection.write("GET / HT")
    #expect(connection.readToEnd() == "")
  }

  @Test func `many silent connections do not block the page`() async throws {
    var limits = LiveLimits()
    (limits.connections, limits.headTime) = (4, .seconds(1))
    let live = try FlightLivePage(of: client().flightRecord, limits: limits)
    let silent = try (0..<8).map { _ in try RawClient(live.url) }
    #expect(try open(live).readToEnd()?.hasPrefix("HTTP/1.1 200 OK") == true)
    #expect(silent.allSatisfy { $0.readToEnd() == "" })
  }

  @Test func `slow reader is asked to reload`() async throws {
    let body = String(repeating: "x", count: 512 << 10)
    let client = client(answer: .text(body), bodyLimit: 1 << 20)
    var limits = LiveLimits()
    (limits.queue, limits.stallTime) = (5, .seconds(600))
    let live = try FlightLivePage(of: client.flightRecord, limits: limits)
    let stream = try open(live, "events")
    #expect(stream.read(until: "\r\n\r\n") != nil)
    for _ in 0..<60 { _ = await client.outcome(of: Post()) }
    let rest = try #require(stream.readToEnd())
    #expect(rest.hasSuffix("event: overflow\ndata: \n\n"))
    #expect(try open(live).readToEnd()?.hasPrefix("HTTP/1.1 200 OK") == true)
  }

  @Test func `stop ends streams and the port`() async throws {
    let client = client()
    let live = try await FlightLivePage(of: client.flightRecord)
    let stream = try open(live, "events")
    let silent = try RawClient(live.url)
    #expect(stream.read(until: "\r\n\r\n") != nil)
    live.stop()
    live.stop()
    #expect(stream.readToEnd() == "event: end\ndata: \n\n" && silent.readToEnd() == "")
    #expect(try !RawClient(live.url).isConnected)
    _ = await client.outcome(of: Post())
  }

  @Test func `each page has another token`() async throws {
    let record = client().flightRecord
    let (first, second) = try await (FlightLivePage(of: record), FlightLivePage(of: record))
    let tokens = [first.url, second.url].compactMap { $0.firstMatch(of: /\/([0-9a-f]{32})\/$/)?.1 }
    #expect(Set(tokens).count == 2)
  }
}
