package import Errand
import ErrandHTTP

/// A family of requests in an app whose default isolation is the main actor. The protocol and its extension are
/// `nonisolated`; the requests need no annotation.
package nonisolated protocol ShopRequest: APIRequest {}

nonisolated extension ShopRequest {
  package var family: RequestFamily? { RequestFamily("shop", headers: ["X-Shop": "1"]) }
  package var method: HTTPMethod { .post }
}

/// A request of the guides, as it is written there. Neither the request nor its response type is annotated.
struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  var arguments: Arguments { ["verbose": true] }
  var cache: CachePolicy { .lifetime(.seconds(180), version: 2) }
  var validation: ResponseValidation { ResponseValidation(shape: ["nick": .string, "level": .number]) }
  struct Response: Decodable, Sendable { let nick: String; let level: Int }
}

/// A request of the family without annotation.
struct AddToCart: ShopRequest {
  let article: Int
  var path: Path { "/cart" }
  var arguments: Arguments { ["article": article] }
  struct Response: Decodable, Sendable { let count: Int }
}

/// A body source of the guides, as it is written there.
final class Countdown: BodySource {
  private var next: UInt8

  init(from first: UInt8) { next = first }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    guard next > 0 else { return .end }
    buffer[0] = next
    next -= 1
    return .bytes(1)
  }
}

struct PutCountdown: APIRequest {
  var path: Path { "/countdown" }
  var method: HTTPMethod { .put }
  var body: RequestBody? {
    .stream(length: 3, isReplayable: true) { _ in Countdown(from: 3) }
  }
  typealias Response = Nothing
}

/// A product of the shop.
package nonisolated struct Product: Decodable, Sendable, Equatable {
  package let name: String
  package let price: Int
}

/// Loads one product.
package nonisolated struct GetProduct: ShopRequest {
  package typealias Response = Product
  package let id: Int
  package var path: Path { "/products/\(id)" }
  package var arguments: Arguments { ["verbose": true] }
  package var validation: ResponseValidation { ResponseValidation(shape: ["name": .string, "price": .number]) }

  package init(id: Int) { self.id = id }
}
