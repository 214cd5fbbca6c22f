import Errand
import Foundation

/// A request whose every part a test can choose.
struct Ask<Response: Decodable & Sendable>: APIRequest {
  var path: Path = "/p"
  var method: HTTPMethod = .get
  var server: RequestServer = .base
  var family: RequestFamily?
  var arguments = Arguments()
  var argumentFormat = ArgumentFormat.byMethod
  var argumentStyle: ArgumentStyle?
  var body: RequestBody?
  var headers = RequestHeaders()
  var credential = RequestCredential.inherited
  var redirects: RedirectPolicy?
  var statusRule: StatusRule?
  var contentTypes: [String]?
  var shape: JSONShape?
  var envelope: Envelope?
  var jsonDecoding: JSONDecoding?
  var jsonEncoding: JSONEncoding?
  var finished: HTTPRequest?
  var checking: @Sendable () throws -> Void = {}

  func check() throws { try checking() }
  func finishedRequest() throws -> HTTPRequest? { finished }
}

/// A request that takes any body.
typealias Sending = Ask<Data>
