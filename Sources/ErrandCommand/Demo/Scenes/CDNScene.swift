import Errand
import ErrandTesting
import Foundation

/// A request that goes to the other host.
struct CDNScene: DemoScene {
  let title = "An image from the CDN host"
  let declared = #"""
    struct GetAvatar: APIRequest {
      let user: String
      var server: RequestServer { .cdn }
      var path: Path { "/avatars/\(user).png" }
      var contentTypes: [String]? { ["image/*"] }
    }
    let image: Data = try await client.send(GetAvatar(user: "ada/../bob"))
    """#

  struct GetAvatar: APIRequest {
    let user: String
    var server: RequestServer { .cdn }
    var path: Path { "/avatars/\(user).png" }
    var contentTypes: [String]? { ["image/*"] }
  }

  /// A picture of one pixel.
  static let png: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00, 0x00, 0x00, 0x0A, 0x49,
    0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81, 0x77, 0xCD, 0x72, 0xB6, 0x00, 0x00,
    0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
  ]

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    host == .cdn ? .data(Self.png, contentType: "image/png") : .status(404)
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let image: Data = try await client.send(GetAvatar(user: "ada/../bob"))

    let request = stage.requests(to: .cdn).first
    stage.showSent(request, to: .cdn, fields: ["Host", "Accept"])
    stage.showGot("\(image.count) bytes of image/png: \(image.prefix(8).map { Self.hex($0) }.joined(separator: " ")) …")
    stage.claim("the CDN was asked, and the API was not", stage.requests().isEmpty && request != nil)
    stage.claim("a slash in a variable stays in its place", request?.path == "/avatars/ada%2F..%2Fbob.png")
    stage.claim("the bytes are the server's", Array(image) == Self.png)
  }

  private static func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.count < 2 ? "0" + digits : digits
  }
}
