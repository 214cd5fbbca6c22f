import Errand
import Foundation

/// Adds a picture to an offer: a form with a caption and the file, which is read while it is sent.
struct AddPicture: APIRequest {
  let offerID: Int
  let caption: String
  let file: URL
  var path: Path { "/offers/\(offerID)/pictures" }
  var method: HTTPMethod { .post }
  var body: RequestBody? { .multipart([.text("caption", caption), .file("picture", file)]) }
  var timeouts: Timeouts { Timeouts(idle: .seconds(30), total: .never) }
  /// The bar shows the progress, so no spinner is needed.
  var delivery: Delivery<Response> { Delivery(indicator: .none) }
  struct Response: Decodable, Sendable { let pictures: Int }
  struct ErrorBody: Decodable, Sendable { let message: String }

  func check() throws {
    guard ["jpg", "png"].contains(file.pathExtension) else {
      throw WrongParameter("\(file.lastPathComponent) is not a picture; choose a jpg or png file")
    }
  }
}
