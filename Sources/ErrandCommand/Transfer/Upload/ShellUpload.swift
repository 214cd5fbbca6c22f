import Errand
import Foundation

/// The request of `errand upload`, as the options describe it.
struct ShellUpload: APIRequest {
  let options: UploadOptions

  typealias Response = Data
  var path: Path { Path(options.url) }
  var method: HTTPMethod { options.method.map { HTTPMethod($0) } ?? (options.isForm ? .post : .put) }
  var credential: RequestCredential { options.credential }
  var timeouts: Timeouts { Timeouts(total: options.timeout.map { .after($0) } ?? .never) }
  var headers: RequestHeaders {
    var headers = RequestHeaders()
    headers.merge(options.fields)
    return headers
  }

  var body: RequestBody? {
    guard let file = options.fileURLs.first else { return nil }
    var body: RequestBody = options.isForm ? .multipart(form) : .file(file, type: options.type)
    if options.isCompressed { body = body.compressed() }
    if options.asksFirst { body = body.expectingContinue() }
    return body
  }

  private var form: Multipart {
    let fields = options.items.map { item -> Multipart.Part in
      if let text = item.value.stringValue { return .text(item.name, text) }
      return .json(item.name, item.value)
    }
    return Multipart(fields + options.fileURLs.map { .file(options.partName, $0, type: options.type) })
  }
}
