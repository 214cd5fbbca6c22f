// The properties of a request. Each part is used in the guide "Declaring requests".
import Errand
import ErrandTesting
import Foundation

// snippet.arguments
struct Search: APIRequest {
  enum Order: String, ArgumentConvertible { case newest, cheapest }

  let text: String
  var tags: [String] = []
  var order: Order?
  var path: Path { "/search" }
  var arguments: Arguments { ["q": text, "tags": tags, "order": order, "page": 1] }
  var formats: Formats { Formats(argumentStyle: ArgumentStyle(arrays: .brackets)) }
  typealias Response = JSONValue
}

// snippet.encoded
struct FindTea: APIRequest {
  struct Filter: Encodable, Sendable {
    var text: String
    var since: Date?
    var tags: [String] = []
  }

  let filter: Filter
  var path: Path { "/tea" }
  var arguments: Arguments { Arguments(encoding: filter) }
  typealias Response = JSONValue
}

// snippet.nested
struct FindFlights: APIRequest {
  let from: String
  var path: Path { "/flights" }
  var arguments: Arguments {
    [
      "from": from,
      "fare": ["class": "economy", "bags": 1] as Arguments,  // fare[class]=economy&fare[bags]=1
    ]
  }
  typealias Response = JSONValue
}

// snippet.path
struct GetFile: APIRequest {
  let user: Int
  let name: String
  let folder: String
  var path: Path { "/users/\(user)/files/\(segments: folder)/\(name)" }
}

// snippet.body
struct Register: APIRequest {
  struct Form: Encodable, Sendable {
    let name: String
    let birthday: Date
  }

  let form: Form
  var path: Path { "/users" }
  var method: HTTPMethod { .post }
  var body: RequestBody? { .json(form) }
  var formats: Formats { Formats(jsonEncoding: .fast(dates: .iso8601)) }
  struct Response: Decodable, Sendable { let id: Int }
}

struct RemoveUsers: APIRequest {
  let ids: [Int]
  var path: Path { "/users" }
  var method: HTTPMethod { .delete }
  var arguments: Arguments { ["ids": ids] }
  var formats: Formats { Formats(arguments: .json) }
  typealias Response = Nothing
}

// snippet.headers
struct GetReport: APIRequest {
  let key: String
  let language: String
  var path: Path { "/report" }
  var headers: RequestHeaders {
    ["Accept-Language": language, "X-Api-Key": .secret(key), "X-Client": nil]
  }
  var credential: RequestCredential { .bearer(key) }
  typealias Response = String
}

// snippet.headerset
struct GetOrders: APIRequest {
  var since: String?
  var path: Path { "/orders" }
  var headers: RequestHeaders {
    var headers: RequestHeaders = ["X-Client": "app"]
    if let since { headers.set("If-Modified-Since", since) }
    headers.set("X-Trace", since == nil ? .text("first") : .secret("again"))
    return headers
  }
  typealias Response = String
}

// snippet.family
protocol ShopRequest: APIRequest where ErrorBody == ShopFailure {}

extension ShopRequest {
  var family: RequestFamily? {
    RequestFamily(
      "shop", baseURL: "https://shop.example.com/v2", headers: ["X-App": "shop"],
      arguments: ["market": "de"],
      validation: ResponseValidation(
        envelope: Envelope(value: "data", code: "code", success: [0], message: "message")))
  }
  var method: HTTPMethod { .post }
  var formats: Formats { .json }
}

struct ShopFailure: Decodable, Sendable {
  let code: Int
  let message: String
}

struct AddToCart: ShopRequest {
  let article: Int
  var path: Path { "/cart" }
  var arguments: Arguments { ["article": article] }
  struct Response: Decodable, Sendable { let count: Int }
}

// snippet.server
struct GetPicture: APIRequest {
  let name: String
  var path: Path { "/pictures/\(name)" }
  var server: RequestServer { .cdn }
  var timeouts: Timeouts { Timeouts(connect: .seconds(3), total: .seconds(20)) }
  var priority: CallPriority { .low }
  var validation: ResponseValidation {
    ResponseValidation(contentTypes: ["image/*"], envelope: .none, bodyLimit: .bytes(2 << 20))
  }
}

// snippet.network
struct GetWallpaper: APIRequest {
  var path: Path { "/wallpaper" }
  var network: NetworkWish { NetworkWish(avoidsCellular: true, waitsForConnectivity: true) }
}

// snippet.rules
struct GetProfile: APIRequest {
  let id: Int
  var path: Path { "/profiles/\(id)" }
  var validation: ResponseValidation {
    ResponseValidation(
      status: .success.or([410]),  // the last profile of a user who has left
      shape: [
        "nick": .string,
        "level": .integer,
        "kind": .oneOf("guest", "member"),
        "tags": [.string],
        "address": .optional(["city": .string]),
        "email": .nullable(.string),
      ])
  }
  struct Response: Decodable, Sendable {
    let nick: String
    let level: Int
    let email: String?
  }

  func check() throws {
    if id < 1 { throw WrongParameter(description: "the id must be above zero, not \(id)") }
  }
}

struct WrongParameter: Error, CustomStringConvertible { let description: String }

// snippet.check
func checkProfile(_ body: Data) {
  let shape: JSONShape = ["nick": .string, "level": .integer, "extra": .any]
  do {
    try shape.check(data: body)
  } catch {
    print(error.path, error)  // $.level $.level: expected an integer, found the string "9"
  }
}

// snippet.decoder
struct Table: Sendable {
  let rows: [[Substring]]
}

struct GetTable: APIRequest {
  var path: Path { "/table.csv" }
  var decoder: ResponseDecoder<Table> {
    ResponseDecoder("CSV", accept: "text/csv") { _, response in
      let lines = try response.text().split(separator: "\n")
      return Table(rows: lines.map { $0.split(separator: ",") })
    }
  }
}

// snippet.hooks
@MainActor final class NewsPage {
  var text = "loading"
}

struct GetNews: APIRequest {
  let page: NewsPage
  var path: Path { "/news" }
  typealias Response = String
  var delivery: Delivery<Response> {
    Delivery(
      beforeCompletion: { @MainActor outcome in page.text = outcome.value ?? "no news" },
      afterCompletion: { outcome in print("news after", outcome.metrics.total) })
  }
}

// snippet.finished
struct UploadTo: APIRequest {
  let signedURL: String
  let bytes: Data
  var path: Path { "" }
  typealias Response = Nothing
  func finishedRequest() throws -> HTTPRequest? {
    try HTTPRequest(
      method: .put, url: signedURL, fields: ["Content-Type": "image/png"], body: HTTPBody(bytes))
  }
}
// snippet.end

// snippet.query
struct FindContacts: APIRequest {
  let match: String
  var path: Path { "/contacts" }
  var method: HTTPMethod { .query }
  var arguments: Arguments { ["match": match, "limit": 10] }
  var cache: CachePolicy { .http }
  struct Response: Decodable, Sendable { let names: [String] }
}

func acceptsJSONPath(_ client: APIClient) async throws -> Bool {
  let response = try await client.head("/contacts")
  return response.raw.acceptQuery.contains { $0.essence == "application/jsonpath" }
}
// snippet.end

let transport = ScriptedTransport { request in
  switch request.url.path {
  case "/v2/cart": .json(#"{"code":0,"message":"ok","data":{"count":3}}"#)
  case "/v1/users": .json(#"{"id":7}"#)
  case "/v1/profiles/7": .json(#"{"nick":"Ada","level":9,"kind":"member","tags":[],"email":null}"#)
  case "/v1/pictures/cat.png": .status(404)
  case "/v1/table.csv": .text("a,b\nc,d")
  default: .text("[]")
  }
}
var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
configuration.transport = .own(transport)
configuration.headers = ["X-Client": "sample"]
let client = APIClient(configuration)

_ = try await client.send(Search(text: "tea & 茶", tags: ["hot", "green"]))
_ = try await client.send(FindTea(filter: FindTea.Filter(text: "green", tags: ["a", "b"])))
checkProfile(Data(#"{"nick":"Ada","level":"9","extra":{}}"#.utf8))
_ = try await client.send(GetFile(user: 7, name: "50%/50%.txt", folder: "taxes/2026"))
print("registered as", try await client.send(Register(form: .init(name: "Ada", birthday: .now))).id)
_ = try await client.send(RemoveUsers(ids: [1, 2]))
_ = try await client.send(GetReport(key: "abc", language: "de"))
print("articles in the cart:", try await client.send(AddToCart(article: 5)).count)
_ = await client.outcome(of: GetPicture(name: "cat.png"))
print("level", try await client.send(GetProfile(id: 7)).level)
print("table", try await client.send(GetTable()).rows)
let newsPage = NewsPage()
_ = try await client.send(GetNews(page: newsPage))
print(newsPage.text)
_ = try await client.send(UploadTo(signedURL: "https://files.example.com/x?signature=1", bytes: Data([1])))
if case .failure(let error) = await client.outcome(of: GetProfile(id: 0)).result { print(error) }
for request in transport.requests { print(request.method, request.url.string) }
