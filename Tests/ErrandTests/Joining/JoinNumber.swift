import Errand

/// The same place, read in another way.
struct JoinNumber: APIRequest {
  typealias Response = Int
  var path: Path { "/text" }
  var headers: RequestHeaders { ["Accept": "*/*"] }
}
