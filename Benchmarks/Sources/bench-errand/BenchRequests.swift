import BenchHarness
import Errand
import Foundation

/// A request whose response is bytes.
struct Bytes: APIRequest {
  let url: String
  var path: Path { RequestPath(url) }
}

/// A request that uses the whole pipeline: arguments, three headers, a content type check and a struct from JSON.
struct TypedAccount: APIRequest {
  let id: Int
  var path: Path { "/200b.json" }
  var arguments: Arguments { ["id": id, "verbose": true] }
  var headers: RequestHeaders { ["X-Client": "bench", "X-Trace": "0123456789abcdef", "Accept-Language": "en"] }
  var validation: ResponseValidation { ResponseValidation(contentTypes: ["application/json"]) }
  typealias Response = Account
}

/// A request with 10 KiB of JSON that is decoded to structs.
struct TypedPeople: APIRequest {
  let url: String
  var path: Path { RequestPath(url) }
  typealias Response = [Person]
}
