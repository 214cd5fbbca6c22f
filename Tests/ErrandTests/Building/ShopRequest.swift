import Errand

/// A family of requests as an app declares it.
protocol ShopRequest: APIRequest where ErrorBody == ShopFault {}

extension ShopRequest {
  var family: RequestFamily? {
    RequestFamily("shop", baseURL: "https://shop.example/v2", headers: ["X-App": "shop"], arguments: ["lang": "zh"])
  }
  var method: HTTPMethod { .post }
}

/// The error body of the shop's server.
struct ShopFault: Decodable, Sendable { let reason: String }
