import Errand

/// An upload for tests.
struct SendFilm: APIRequest {
  struct Response: Decodable, Sendable, Hashable { let id: Int }
  struct ErrorBody: Decodable, Sendable, Hashable { let reason: String }

  var path: Path = "/films"
  var method = HTTPMethod.post
  var headers = RequestHeaders()
  var body: RequestBody?
  var redirects: RedirectPolicy = .inherited
  var contentTypes: [String]?
  var envelope: Envelope = .inherited
  var validation: ResponseValidation { ResponseValidation(contentTypes: contentTypes, envelope: envelope) }
}
