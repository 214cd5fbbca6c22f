import ErrandCore
import Foundation
import Testing

@testable import ErrandURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What a background session of URLSession tells, in Errand's words.
@Suite struct SessionBackgroundTests {
  private static func end(_ code: Int?, _ reason: Int? = nil) throws -> BackgroundEnd {
    let origin = try HTTPURL("https://h.example/x").origin
    let info = reason.map { ["NSURLErrorBackgroundTaskCancelledReasonKey": $0] } ?? [:]
    return BackgroundEnd(code.map { NSError(domain: NSURLErrorDomain, code: $0, userInfo: info) }, origin)
  }

  @Test func `end without an error is one`() throws { #expect(try Self.end(nil) == .finished) }

  @Test(arguments: [
    (Int?.none, String?.none), (0, "the user closed the app"), (1, "background work is switched off for the app"),
    (2, "the system had too few resources"), (7, nil),
  ])
  func `system says why it cancelled`(reason: Int?, words: String?) throws {
    #expect(try Self.end(NSURLErrorCancelled, reason) == .cancelled(words))
  }

  @Test func `failure has its kind`() throws {
    guard case .failed(let failure) = try Self.end(NSURLErrorNotConnectedToInternet) else {
      return #expect(Bool(false), "it failed")
    }
    #expect(failure.kind == .offline)
  }

  @Test func `order is sent as it stands`() throws {
    var request = HTTPRequest(url: try HTTPURL("https://h.example/film"), fields: ["X-Key": "1"])
    request.fields.append(HTTPField(.authorization, "Bearer t"))
    let sent = try BackgroundOrder(name: "a", request: request).request(.apple)
    #expect(sent.url?.absoluteString == "https://h.example/film" && sent.httpMethod == "GET")
    #expect(sent.value(forHTTPHeaderField: "Authorization") == "Bearer t")
    #expect(!sent.httpShouldHandleCookies)
  }
}
