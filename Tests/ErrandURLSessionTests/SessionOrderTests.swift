import ErrandCore
import Foundation
import Testing
import TransportChecks

@testable import ErrandURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct SessionOrderTests {
  private static func order(
    _ method: HTTPMethod = .get, _ url: String = "http://h.example/a?b=%20", fields: HTTPFields = [:],
    body: HTTPBody? = nil, sink: (any BodySink)? = nil, on platform: SessionPlatform = .linux
  ) throws -> SessionOrder {
    let request = try HTTPRequest(method: method, url: url, fields: fields, body: body)
    return try SessionOrder(Exchange(request: request, sink: sink), platform)
  }

  private static func refusal(_ make: () throws -> SessionOrder) -> String? {
    do {
      _ = try make()
      return nil
    } catch {
      let failure = error as? TransportFailure
      return failure?.kind == .unsupported && failure?.isCertainlyNotSent == true ? failure?.description : "\(error)"
    }
  }

  @Test func `unsupported requests are rejected`() throws {
    #expect(
      Self.refusal { try Self.order(sink: RecordingSink()) }
        == "The request cannot be sent: this transport cannot write the response body to a sink (capability bodySink);"
        + " receive the body as data, or use another transport.")
    #expect(
      Self.refusal { try Self.order(.get, body: HTTPBody(Data([1]))) }
        == "The request cannot be sent: URLSession sends no body with GET; use another method or another"
        + " transport.")
    #expect(
      Self.refusal { try Self.order(.put, body: HTTPBody(Data([1])).expectingContinue()) }
        == "The request cannot be sent: URLSession cannot wait for 100 Continue; leave `expectingContinue()` out.")
    #expect(
      Self.refusal { try Self.order(fields: ["X": "a\r\nb"]) }?.contains("control character") == true)
    let framing = Self.refusal { try Self.order(fields: ["Content-Length": "1"]) }
    #expect(framing?.contains("describes how the message is sent") == true)
  }

  @Test(arguments: ["/a/../b", "/a/./b", "/..", "/a/%2e%2E/b"])
  func `dot segments in paths are rejected`(path: String) throws {
    let url = "http://h.example" + path
    #expect(
      Self.refusal { try Self.order(.get, url) }
        == "The request cannot be sent: URLSession would remove the segments `.` and `..` from the path of the URL;"
        + " leave them out, or use another transport.")
    #expect(Self.refusal { try Self.order(.get, url, on: .apple) } == nil)
  }

  @Test(arguments: ["get", "Post", "dELETE"]) func `a changed method is rejected`(method: String) throws {
    #expect(
      Self.refusal { try Self.order(HTTPMethod(method)) }
        == "The request cannot be sent: URLSession would send the method \(method) as \(method.uppercased()); use"
        + " \(method.uppercased()) or another transport.")
    #expect(try Self.order("purge").request.httpMethod == "purge")
  }

  @Test func `fields of one name become a list`() throws {
    let fields = HTTPFields([
      HTTPField("X-A", "1"), HTTPField("Cookie", "a=1"), HTTPField("x-a", "2"), HTTPField("Cookie", "b=2"),
    ])
    let request = try Self.order(fields: fields).request
    #expect(request.value(forHTTPHeaderField: "X-A") == "1, 2")
    #expect(request.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
  }

  @Test func `URLSession's own features are off`() throws {
    let request = try Self.order().request
    #expect(request.url?.absoluteString == "http://h.example/a?b=%20")
    #expect(request.httpShouldHandleCookies == false)
    #expect(request.cachePolicy == .reloadIgnoringLocalCacheData)
    #expect(request.timeoutInterval == SessionOrder.patience)
    let configuration = URLSessionSettings().configuration()
    #expect(configuration.timeoutIntervalForRequest == SessionOrder.patience)
    #expect(configuration.urlCache == nil)
    #expect(configuration.httpCookieStorage == nil)
    #expect(configuration.urlCredentialStorage == nil)
    #expect(configuration.httpShouldSetCookies == false)
  }

  @Test func `network restrictions are passed on`() throws {
    let request = try HTTPRequest(url: "http://h.example/")
    let wish = NetworkWish(avoidsCellular: true)
    let order = try SessionOrder(Exchange(request: request, network: wish), .apple)
    #expect(!order.allowsCellular)
    #expect(order.allowsExpensive)
    let other = try SessionOrder(Exchange(request: request, network: NetworkWish(avoidsExpensive: true)), .apple)
    #expect(other.allowsCellular)
    #expect(!other.allowsExpensive)
    #expect(try Self.order().allowsCellular)
  }

  @Test func `each body keeps its kind`() throws {
    #expect(try Self.order(.post, body: HTTPBody(Data([1]))).body == .data(Data([1])))
    #expect(try Self.order(.post, body: HTTPBody(Data())).body == .data(Data()))
    let stream = HTTPBody.stream { _ in throw CancellationError() }
    #expect(try Self.order(.post, body: stream).body == .source(stream))
    #expect(try Self.order(.post).body == .none)
    #expect(try Self.order(.get, body: HTTPBody(Data())).body == .none)
  }
}
