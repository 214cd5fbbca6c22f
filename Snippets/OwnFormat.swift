// A format of your own for requests and responses: the wide forms of MessagePack, based on a JSON value.
import Errand
import ErrandCore
import ErrandTesting
import Foundation

// snippet.format
struct MessagePack: BodyFormat, ResponseFormat {
  let name = "MessagePack"
  let contentType = "application/vnd.msgpack"
  let accept = "application/vnd.msgpack"

  func encode<Value: Encodable>(_ value: Value) throws -> Data {
    var out = Data()
    pack(try JSONValue(parsing: JSONEncoder().encode(value)), into: &out)
    return out
  }

  func decode<Value: Decodable>(
    _ type: Value.Type, from body: Data, of response: HTTPResponse
  ) throws -> Value {
    var reader = PackReader(rest: body)
    let value = try reader.value()
    guard reader.rest.isEmpty else { throw FormatFailure(.malformed, "more bytes follow") }
    return try JSONDecoding.standard.decode(type, from: value.serialized())
  }
}
// snippet.end

func pack(_ value: JSONValue, into out: inout Data) {
  switch value.content {
  case .null: out.append(0xC0)
  case .bool(let flag): out.append(flag ? 0xC3 : 0xC2)
  case .integer(let number): out.append(mark: 0xD3, UInt64(bitPattern: number))
  case .unsigned(let number): out.append(mark: 0xCF, number)
  case .number(let number): out.append(mark: 0xCB, number.bitPattern)
  case .string(let text):
    out.append(mark: 0xDB, UInt32(clamping: text.utf8.count))
    out.append(contentsOf: text.utf8)
  case .array(let values):
    out.append(mark: 0xDD, UInt32(clamping: values.count))
    for value in values { pack(value, into: &out) }
  case .object(let members):
    out.append(mark: 0xDF, UInt32(clamping: members.count))
    for (key, value) in members {
      pack(.string(key), into: &out)
      pack(value, into: &out)
    }
  }
}

extension Data {
  /// Appends a type byte and a number in big-endian order.
  mutating func append(mark: UInt8, _ number: some FixedWidthInteger) {
    append(mark)
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}

// snippet.reader
struct PackReader {
  private(set) var rest: Data
  private var depth = 0

  init(rest: Data) { self.rest = rest }

  mutating func value() throws -> JSONValue {
    depth += 1
    defer { depth -= 1 }
    guard depth <= 100 else { throw FormatFailure(.limit, "it is nested too deeply") }
    switch try number(of: 1) {
    case 0xC0: return .null
    case 0xC2: return .bool(false)
    case 0xC3: return .bool(true)
    case 0xD3: return .integer(Int64(bitPattern: try number(of: 8)))
    case 0xCF: return .unsigned(try number(of: 8))
    case 0xCB: return .number(Double(bitPattern: try number(of: 8)))
    case 0xDB: return .string(try text())
    case 0xDD: return .array(try elements())
    case 0xDF: return .object(try members())
    case let mark: throw FormatFailure(.malformed, "the mark \(mark) is unknown")
    }
  }
  // snippet.end

  private mutating func elements() throws -> [JSONValue] {
    var elements: [JSONValue] = []  // reserves no memory by the length that the body claims
    for _ in 0..<(try number(of: 4)) { elements.append(try value()) }
    return elements
  }

  private mutating func members() throws -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    for _ in 0..<(try number(of: 4)) {
      guard let key = try value().stringValue else {
        throw FormatFailure(.malformed, "a key is not a text")
      }
      members[key] = try value()
    }
    return members
  }

  private mutating func text() throws -> String {
    let bytes = try take(Int(clamping: try number(of: 4)))
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FormatFailure(.malformed, "a text is not UTF-8")
    }
    return text
  }

  private mutating func number(of count: Int) throws -> UInt64 {
    try take(count).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func take(_ count: Int) throws -> Data {
    guard rest.count >= count else { throw FormatFailure(.malformed, "the body is truncated") }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}

struct Order: Codable, Sendable {
  var article: String
  var count: Int
}

// snippet.use
struct PlaceOrder: APIRequest {
  let order: Order
  var path: Path { "/orders" }
  var method: HTTPMethod { .post }
  var body: RequestBody? { .encoded(order, as: MessagePack()) }
  var validation: ResponseValidation { ResponseValidation(contentTypes: ["application/vnd.msgpack"]) }
  var decoder: ResponseDecoder<Order> { .format(MessagePack()) }
}
// snippet.end

let server = try LoopbackServer { request in
  .data(request.body, contentType: "application/vnd.msgpack")
}
let placed = try await APIClient(baseURL: server.url)
  .send(PlaceOrder(order: Order(article: "tea", count: 2)))
print(placed, server.requests.count)
