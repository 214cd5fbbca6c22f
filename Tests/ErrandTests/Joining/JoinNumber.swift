import Errand

/// Requests the same URL and decodes a number.
struct JoinNumber: APIRequest {
  typealias Response = Int
  var path: Path { "/text" }
  var headers: RequestHeaders { ["Accept": "*/*"] }
}
