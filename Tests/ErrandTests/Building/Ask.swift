import Errand
import ErrandCore
import Foundation

/// A request in which a test can set every property.
struct Ask<Response: Decodable & Sendable>: APIRequest {
  var path: Path = "/p"
  var method: HTTPMethod = .get
  var server: RequestServer = .base
  var family: RequestFamily?
  var arguments = Arguments()
  var argumentFormat = ArgumentFormat.inherited
  var argumentStyle: ArgumentStyle = .inherited
  var body: RequestBody?
  var headers = RequestHeaders()
  var credential = RequestCredential.inherited
  var redirects: RedirectPolicy = .inherited
  var statusRule: StatusRule = .inherited
  var contentTypes: [String]?
  var shape: JSONShape?
  var envelope: Envelope = .inherited
  var jsonDecoding: JSONDecoding = .inherited
  var jsonEncoding: JSONEncoding = .inherited
  var finished: HTTPRequest?
  var checking: @Sendable () throws -> Void = {}

  var formats: Formats {
    Formats(
      arguments: argumentFormat, argumentStyle: argumentStyle, jsonDecoding: jsonDecoding, jsonEncoding: jsonEncoding)
  }
  var validation: ResponseValidation {
    ResponseValidation(status: statusRule, contentTypes: contentTypes, shape: shape, envelope: envelope)
  }

  func check() throws { try checking() }
  func finishedRequest() throws -> HTTPRequest? { finished }
}

/// A request that accepts any response body.
typealias Sending = Ask<Data>
