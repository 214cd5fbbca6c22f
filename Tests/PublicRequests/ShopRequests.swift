// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Errand

/// Requests of the guides, as a module declares them for other modules. The file imports only Errand.
public struct GetUser: APIRequest {
  public let id: Int
  public var path: Path { "/users/\(id)" }
  public var arguments: Arguments { ["verbose": true] }
  public var cache: CachePolicy { .lifetime(.seconds(180), version: 2) }
  public var validation: ResponseValidation { ResponseValidation(shape: ["nick": .string, "level": .number]) }
  public struct Response: Decodable, Sendable {
    public let nick: String
    public let level: Int
  }

  public init(id: Int) { self.id = id }
}

/// A family with a type of its own for error bodies.
public protocol ShopRequest: APIRequest where ErrorBody == ShopFailure {}

extension ShopRequest {
  public var family: RequestFamily? { RequestFamily("shop", headers: ["X-Shop": "1"]) }
  public var method: HTTPMethod { .post }
}

/// The error body of the shop.
public struct ShopFailure: Decodable, Sendable {
  public let message: String
}

/// A request of the family.
public struct AddToCart: ShopRequest {
  public let article: Int
  public var path: Path { "/cart" }
  public var arguments: Arguments { ["article": article] }
  public var formats: Formats { Formats(arguments: .json) }
  public typealias Response = Nothing

  public init(article: Int) { self.article = article }
}
