import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

@Suite(.serialized) struct NginxTests {
  @Test func `HTTP/2 is the default over TLS`() async throws {
    let answer = try await Servers.tls("ERRAND_NGINX_TLS").response(TextProbe(path: "/protocol"))
    #expect(answer.raw.head.version == .http2 && answer.value.contains("HTTP/2"))
  }

  @Test(arguments: TrustCarrier.allCases)
  func `HTTP/2 is used if chosen`(carrier: TrustCarrier) async throws {
    let client = try Servers.tls("ERRAND_NGINX_TLS", over: carrier) { $0.httpVersion = .http2 }
    let answer = try await client.response(TextProbe(path: "/protocol"))
    #expect(answer.raw.head.version == .http2)
    #expect(answer.value.contains("HTTP/2"))
  }

  @Test(arguments: TrustCarrier.allCases)
  func `HTTP/1.1 is used if chosen`(carrier: TrustCarrier) async throws {
    let client = try Servers.tls("ERRAND_NGINX_TLS", over: carrier) { $0.httpVersion = .http1Only }
    let answer = try await client.response(TextProbe(path: "/protocol"))
    #expect(answer.raw.head.version == .http1_1)
    #expect(answer.value.contains("HTTP/1.1"))
  }

  @Test(arguments: TrustCarrier.allCases)
  func `connection is reused`(carrier: TrustCarrier) async throws {
    let client = try Servers.tls("ERRAND_NGINX_TLS", over: carrier)
    let first = try await client.response(BytesProbe(path: "/200b"))
    let second = try await client.response(BytesProbe(path: "/200b"))
    #expect(first.metrics.exchanges.first?.isConnectionReused == false)
    #expect(second.metrics.exchanges.first?.isConnectionReused == true)
    #expect(first.metrics.exchanges.first?.tls != nil)
  }

  @Test(
    arguments: [
      ("ERRAND_NGINX_EXPIRED", TransportFailure.Kind.certificateExpired, "expired"),
      ("ERRAND_NGINX_NOT_YET_VALID", .certificateNotYetValid, "not valid yet"),
      ("ERRAND_NGINX_WRONG_HOST", .wrongHost, "host"), ("ERRAND_NGINX_SELF_SIGNED", .certificateSelfSigned, "signed"),
      ("ERRAND_NGINX_COMMON_NAME", .wrongHost, "common name"),
    ], TrustCarrier.allCases)
  func `invalid certificate is refused`(
    sample: (variable: String, kind: TransportFailure.Kind, word: String), carrier: TrustCarrier
  ) async throws {
    let (variable, kind, word) = sample
    let error = try await failure(Servers.tls(variable, over: carrier), BytesProbe(path: "/200b"))
    #expect(error.transportKind == kind)
    #expect(error.message.localizedCaseInsensitiveContains(word), "\(error)")
  }

  @Test func `unknown authority is refused`() async throws {
    let base = try Servers.address("ERRAND_NGINX_TLS")
    let error = try await failure(APIClient(baseURL: base), BytesProbe(path: "/200b"))
    #expect(error.transportKind == .unknownAuthority)
  }

  @Test func `cleartext on a TLS port fails`() async throws {
    let base = try Servers.address("ERRAND_NGINX_TLS").replacing("https://", with: "http://")
    let error = try await failure(APIClient(baseURL: base), BytesProbe(path: "/200b"))
    #expect(error.status == 400)
  }

  @Test func `TLS on a cleartext port fails`() async throws {
    let base = try Servers.address("ERRAND_NGINX").replacing("http://", with: "https://")
    let error = try await failure(APIClient(baseURL: base), BytesProbe(path: "/200b"))
    #expect(error.transportKind == .tls)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `https does not redirect to http`(carrier: TrustCarrier) async throws {
    let client = try Servers.tls("ERRAND_NGINX_TLS", over: carrier)
    let error = try await failure(client, BytesProbe(path: "/downgrade"))
    #expect(error.code == .redirectRefused && error.stage == .redirect, "\(error)")
    #expect(try await client.send(BytesProbe(path: "/200b")).count == 200)
  }

  @Test(.enabled(if: (try? RefusingPort(address: .ipv6)) != nil, "this machine has no IPv6"))
  func `server is reached over IPv6`() async throws {
    let base = try Servers.address("ERRAND_NGINX_IPV6")
    #expect(try await APIClient(baseURL: base).send(BytesProbe(path: "/200b")).count == 200)
  }

  @Test func `gzip response is decoded`() async throws {
    let answer = try await Servers.nginx().response(PeopleProbe())
    #expect(answer.value.count == 68)
    #expect(answer.fields[.contentEncoding] == "gzip")
    let received = try #require(answer.metrics.exchanges.first?.bytesReceived)
    #expect(received < answer.raw.body.count)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `early response to an upload is delivered`(carrier: TrustCarrier) async throws {
    let body = Data(repeating: 7, count: 3 << 20)
    for client in [try Servers.nginx(over: carrier), try Servers.tls("ERRAND_NGINX_TLS", over: carrier)] {
      let answer = try await client.response(SinkProbe(data: body))
      #expect(answer.value == Data("taken\n".utf8))
      #expect(try await client.send(BytesProbe(path: "/200b")).count == 200)
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `concurrent requests all succeed`(carrier: TrustCarrier) async throws {
    for client in [try Servers.nginx(over: carrier), try Servers.tls("ERRAND_NGINX_TLS", over: carrier)] {
      let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<300 { group.addTask { try await client.send(BytesProbe(path: "/200b")).count } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(sizes.count == 300)
      #expect(sizes.allSatisfy { $0 == 200 })
      #expect(client.running.isEmpty)
    }
  }

  @Test func `204 response is empty`() async throws {
    let answer = try await Servers.nginx().response(BytesProbe(path: "/empty"))
    #expect(answer.status == 204)
    #expect(answer.value.isEmpty)
  }
}

private struct PeopleProbe: APIRequest {
  struct Person: Decodable, Sendable { let id: Int; let name: String }
  var path: Path { "/10k.json" }
  typealias Response = [Person]
}

private struct SinkProbe: APIRequest {
  let data: Data
  var path: Path { "/sink" }
  var method: HTTPMethod { .put }
  var body: RequestBody? { .bytes(data) }
}
