// Decoding JSON with Errand's own decoder: for a client, a family, one request, and outside of a call.
import Errand
import ErrandTesting
import Foundation

// snippet.rules
extension JSONDecoding {
  static let shop = JSONDecoding.fast(dates: .iso8601, keys: .convertFromSnakeCase)
}
// snippet.end

let server = try LoopbackServer { request in
  switch request.path {
  case "/teas": .json(#"[{"name":"Assam","price":3.5,"grades":["FOP"]}]"#)
  case "/old": .json(#"[{"name":"tea","price":3,},]"#)
  case "/big": .json(#"{"code":0,"data":{"items":[{"name":"tea","price":3}],"next":null}}"#)
  default: .json(#"{"order_id":7,"placed_at":"2026-01-31T10:00:00Z"}"#)
  }
}
let client = APIClient(baseURL: server.url)

// snippet.client
client.configure { $0.formats.jsonDecoding = .standard }
// snippet.end

// snippet.family
protocol ShopRequest: APIRequest {}

extension ShopRequest {
  var formats: Formats { Formats(jsonDecoding: .shop) }
}

struct GetOrder: ShopRequest {
  let id: Int
  var path: Path { "/orders/\(id)" }

  struct Response: Decodable, Sendable {
    let orderId: Int
    let placedAt: Date
  }
}
// snippet.end

struct Item: Decodable, Sendable {
  let name: String
  let price: Double
}

// snippet.request
struct GetOldList: APIRequest {
  var path: Path { "/old" }
  var formats: Formats { Formats(jsonDecoding: .standard) }  // that server ends its lists with a comma
  typealias Response = [Item]
}
// snippet.end

// snippet.taking
extension JSONDecoding {
  static let legacy = JSONDecoding.fast(by: legacyDecoder())
}

func legacyDecoder() -> JSONDecoder {
  let decoder = JSONDecoder()
  decoder.dateDecodingStrategy = .secondsSince1970
  decoder.nonConformingFloatDecodingStrategy =
    .convertFromString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
  return decoder
}
// snippet.end

// snippet.envelope
struct GetItems: APIRequest {
  var path: Path { "/big" }
  var validation: ResponseValidation {
    ResponseValidation(envelope: Envelope(value: "data.items", code: "code", message: "message"))
  }
  typealias Response = [Item]
}
// snippet.end

// snippet.readable
struct Tea: JSONReadable {
  let name: String
  let price: Double
  let origin: String?
  let grades: [String]

  init(json: JSONValue) throws {
    name = try json.read("name")
    price = try json.read("price")
    origin = try json.readIfPresent("origin")
    grades = try json.readIfPresent("grades") ?? []
  }
}

struct GetTeas: APIRequest {
  var path: Path { "/teas" }
  typealias Response = [Tea]
}
// snippet.end

// snippet.hand
let body = Data(#"{"code": 0, "data": {"items": [{"name": "tea", "price": 3.5}]}}"#.utf8)
let items = try JSONDecoding.fast.decode([Item].self, from: body, at: "data.items")
// snippet.end

// snippet.value
let document = try JSONValue(parsing: body)
let name = document["data"]["items"][0]["name"]?.stringValue
let prices = try document["data"]["items"]?.arrayValue?.map { try $0.read("price", as: Decimal.self) }

switch document["code"]?.content {
case .integer(0): print("all is well")
case .some(let other): print("refused: \(other)")
case .none: print("no code")
}

let offer = try JSONValue(encoding: ["tea": 3.5])  // {"tea":3.5}
// snippet.end

// snippet.writing
client.configure { $0.formats.jsonEncoding = .fast(dates: .iso8601) }
let text = try JSONEncoding.fast.encode(["tea": 3.5, "bread": 2])  // {"bread":2,"tea":3.5}
// snippet.end

print(items.count, text.count, try await client.send(GetOrder(id: 7)).orderId)
print(try await client.send(GetOldList()).count, try await client.send(GetItems()).count)
print(try await client.send(GetTeas()).map(\.name), name ?? "-", prices ?? [], offer)
print(try JSONDecoding.legacy.decode(Double.self, from: Data(#""inf""#.utf8)), server.requests.count)
