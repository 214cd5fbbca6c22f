import Errand
import Foundation

/// A picture from the CDN, in memory.
struct GetImage: APIRequest {
  let name: String
  var server: RequestServer { .cdn }
  var path: Path { "/images/\(name)" }
  var validation: ResponseValidation { ResponseValidation(contentTypes: ["image/*"]) }
}

/// A large picture from the CDN, into a file. The next call resumes an interrupted download; `takeUps` is 0, so a call
/// itself does not.
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
