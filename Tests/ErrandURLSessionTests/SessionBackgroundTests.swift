import ErrandCore
import Foundation
import Testing

@testable import ErrandURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// How the events of a background session are translated.
struct SessionBackgroundTests {
  private static func end(_ code: Int?, _ reason: Int? = nil) throws -> BackgroundEnd {
    let origin = try HTTPURL("https://h.example/x").origin
    let info = reason.map { ["NSURLErrorBackgroundTaskCancelledReasonKey": $0] } ?? [:]
    return BackgroundEnd(code.map { NSError(domain: NSURLErrorDomain, code: $0, userInfo: info) }, origin)
  }

  @Test func `no error means finished`() throws { #expect(try Self.end(nil) == .finished) }

  @Test(arguments: [
    (Int?.none, String?.none), (0, "the user closed the app"), (1, "background work is disabled for the app"),
    (2, "the system had too few resources"), (7, nil),
  ])
  func `the system's cancel reason is reported`(reason: Int?, words: String?) throws {
    #expect(try Self.end(NSURLErrorCancelled, reason) == .cancelled(words))
  }

  @Test func `a failure has its kind`() throws {
    guard case .failed(let failure) = try Self.end(NSURLErrorNotConnectedToInternet) else {
      return #expect(Bool(false), "it failed")
    }
    #expect(failure.kind == .offline)
  }

  @Test(arguments: [NSURLErrorNotConnectedToInternet, NSURLErrorCannotConnectToHost, NSURLErrorCannotFindHost])
  func `a failure may have been sent`(code: Int) throws {
    guard case .failed(let failure) = try Self.end(code) else { return #expect(Bool(false), "it failed") }
    #expect(!failure.isCertainlyNotSent)
  }

  @Test func `a rejected server may have been reached`() throws {
    let origin = try HTTPURL("https://h.example/x").origin
    let refusal = TransportFailure(.pinMismatch, "Another key.", isCertainlyNotSent: true)
    let cancelled = NSError(domain: NSURLErrorDomain, code: NSURLErrorCancelled)
    #expect(
      BackgroundEnd(cancelled, origin, refusal: refusal) == .failed(TransportFailure(.pinMismatch, "Another key.")))
  }

  @Test func `a failure without an origin is reported`() {
    guard case .failed(let failure) = BackgroundEnd(URLError(.timedOut), nil) else {
      return #expect(Bool(false), "it failed")
    }
    #expect(failure.kind == .other)
  }

  @Test(arguments: [
    ("https://h.example/film?x", "https://h.example/film?x"), ("https://ada:pw@h.example/film", "https://h.example/"),
    ("http://ada@h.example:8443/film", "http://h.example:8443/"), ("https://ada@[::1]:9/x", "https://[::1]:9/"),
  ])
  func `a response keeps its origin`(text: String, kept: String) throws {
    let url = try #require(URL(string: text))
    let reported = HTTPURLResponse(url: url, statusCode: 206, httpVersion: nil, headerFields: ["X-A": "1"])
    let response = try BackgroundResponse(reported)
    #expect(response.url.string == kept)
    #expect(response.head.status == 206 && response.head.fields["X-A"] == "1")
  }

  @Test func `a response without an HTTP URL fails`() throws {
    let url = try #require(URL(string: "data:,x"))
    for response in [
      nil, URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil),
      HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil),
    ] {
      let failure = #expect(throws: TransportFailure.self) { try BackgroundResponse(response) }
      #expect(failure?.kind == .malformedResponse)
    }
  }

  @Test func `a stalled task is retried after a minute`() throws {
    let order = BackgroundOrder(name: "a", request: HTTPRequest(url: try HTTPURL("https://h.example/film")))
    #expect(try order.parts(.apple).request.timeoutInterval == 60)
    let configuration = URLSessionConfiguration.ephemeral
    URLSessionSettings().apply(to: configuration, patience: SessionOrder.backgroundPatience)
    #expect(configuration.timeoutIntervalForRequest == 60)
    #expect(configuration.timeoutIntervalForResource == SessionOrder.patience)
  }

  @Test func `an order becomes an unchanged request`() throws {
    var request = HTTPRequest(url: try HTTPURL("https://h.example/film"), fields: ["X-Key": "1"])
    request.fields.append(HTTPField(.authorization, "Bearer t"))
    let (sent, file) = try BackgroundOrder(name: "a", request: request).parts(.apple)
    #expect(file == nil)
    #expect(sent.url?.absoluteString == "https://h.example/film" && sent.httpMethod == "GET")
    #expect(sent.value(forHTTPHeaderField: "Authorization") == "Bearer t")
    #expect(!sent.httpShouldHandleCookies)
  }

  private static func upload(_ body: HTTPBody, _ method: HTTPMethod = .put) throws -> BackgroundOrder {
    BackgroundOrder(
      name: "a", request: HTTPRequest(method: method, url: try HTTPURL("https://h.example/film"), body: body))
  }

  @Test func `an upload is sent from its file`() throws {
    let file = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .notDirectory)
    try Data("film".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let (sent, source) = try Self.upload(.file(file)).parts(.apple)
    #expect(sent.httpMethod == "PUT" && sent.httpBody == nil)
    #expect(source?.path(percentEncoded: false) == file.path(percentEncoded: false))
  }

  @Test func `an upload from memory is rejected`() throws {
    let order = try Self.upload(HTTPBody(Data("film".utf8)))
    let failure = #expect(throws: TransportFailure.self) { try order.parts(.apple) }
    #expect(failure?.kind == .unsupported)
  }

  @Test func `a response body becomes one file`() throws {
    let responses = UploadResponses(limit: 8)
    #expect(responses.add(Data("ab".utf8), to: 1) == nil && responses.add(Data("xy".utf8), to: 2) == nil)
    #expect(responses.add(Data("cd".utf8), to: 1) == nil)
    var bodies: [String] = []
    var place: URL?
    let failure = responses.withFile(of: 1) { file in
      place = file
      bodies.append((try? String(contentsOf: file, encoding: .utf8)) ?? "none")
    }
    #expect(failure == nil && bodies == ["abcd"])
    #expect(!FileManager.default.fileExists(atPath: try #require(place).path(percentEncoded: false)))
    // The first body is gone; a response without a body gives an empty file.
    #expect(
      responses.withFile(of: 1) { bodies.append((try? String(contentsOf: $0, encoding: .utf8)) ?? "none") } == nil)
    #expect(bodies == ["abcd", ""])
  }

  @Test func `a response body has a limit`() {
    let responses = UploadResponses(limit: 3)
    #expect(responses.add(Data("abc".utf8), to: 1) == nil)
    #expect(responses.add(Data("d".utf8), to: 1)?.kind == .tooLarge)
    responses.drop(1)
    #expect(responses.add(Data("abc".utf8), to: 1) == nil)
  }
}
