// One error type: a stage, a stable code, a message, and the known facts of the call.
import Errand
import ErrandTesting
import Foundation

struct Problem: Decodable, Sendable {
  let message: String
}

struct Order: APIRequest {
  typealias ErrorBody = Problem
  let article: Int
  var path: Path { "/orders" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["article": article] }
  struct Response: Decodable, Sendable { let number: Int }
}

// snippet.switch
func sentence(for error: APIError) -> String? {
  switch error.stage {
  case .cancelled:
    return nil  // the app cancelled it: show nothing
  case .deadline:
    return "This takes too long. Please try again."
  case .transport where error.transportKind?.concernsTLS == true:
    return "The connection is not safe."
  case .transport:
    return "The server cannot be reached."
  case .authorize where error.code == .refreshUnavailable:
    return "The login cannot be renewed at the moment. Please try again."
  case .authorize where error.code == .refreshFailed:
    return "Please log in again."
  case .validate where error.status == 401:
    return "Please log in again."
  case .validate where error.code == .business:
    return error.serverMessage ?? "Rejected with code \(error.businessCode ?? "?")."
  case .validate:
    return error.body(as: Problem.self)?.message ?? "The server rejected the request."
  default:
    return "This is a fault of the app: \(error.code)."
  }
}
// snippet.end

// snippet.message
struct ShopFailure: Decodable, LocalizedError {
  let text: String
  var errorDescription: String? { text }
}
// snippet.end

// snippet.problem
struct Pay: APIRequest {
  typealias ErrorBody = ProblemDetails
  let article: Int
  var path: Path { "/payments" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["article": article] }
}

func missingCredit(_ error: APIError, price: Int) -> Int? {
  guard let problem = error.body(as: ProblemDetails.self),
    problem.type == "https://example.com/probs/out-of-credit"
  else { return nil }
  return problem.extensions["balance"]?.intValue.map { price - $0 }
}
// snippet.end

let server = try LoopbackServer { _ in .json(#"{"message":"The article is sold out."}"#, status: 409) }
let client = APIClient(baseURL: server.url)

do {
  let order = try await client.send(Order(article: 5))
  print(order.number)
} catch {
  print(sentence(for: error) ?? "")
  print(error)  // validate/status: The server answered 409 Conflict; expected 200–299. [POST …/orders → 409]
}
