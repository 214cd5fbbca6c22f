import Errand
import Foundation

/// A picture of the CDN, into memory.
struct GetImage: APIRequest {
  let name: String
  var server: RequestServer { .cdn }
  var path: Path { "/images/\(name)" }
  var contentTypes: [String]? { ["image/*"] }
}

/// A large picture of the CDN, into a file. It goes on where an earlier download of it stopped: once the user asks for it
/// again, not by itself.
struct DownloadImage: APIRequest {
  let name: String
  let file: URL
  var server: RequestServer { .cdn }
  var path: Path { "/images/\(name)" }
  var download: Download? {
    var download = Download.to(file)
    download.takeUps = 0
    return download
  }
  typealias Response = DownloadedFile
}

/// Adds a picture, with its title, in one form.
struct AddPhoto: APIRequest {
  let title: String
  let photo: URL
  var path: Path { "/photos" }
  var method: HTTPMethod { .post }
  var body: RequestBody? { .multipart([.text("title", title), .file("image", photo)]) }

  struct Response: Decodable, Sendable {
    let number: Int
    let bytes: Int
  }
}
