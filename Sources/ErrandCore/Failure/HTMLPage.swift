import Foundation

/// The beginning of a response body that is an HTML page, such as a login page or the error page of a proxy.
struct HTMLPage {
  /// The beginning of the page on one line, without control characters and with at most 80 Unicode scalars.
  let beginning: String

  /// Makes the page of a response; nil if the body is not HTML. The text decides, because many servers send JSON with
  /// the content type `text/html`.
  init?(_ response: HTTPResponse) {
    let text = String(decoding: response.body.prefix(1_024), as: UTF8.self)
    let words = text.split { $0.isWhitespace || $0 == "\u{FEFF}" }.joined(separator: " ")
    let start = words.prefix(14).lowercased()
    let isPage = response.fields.mediaType?.isPage == true
    guard start.hasPrefix("<html") || start == "<!doctype html" || isPage && start.hasPrefix("<") else { return nil }
    beginning = APIError.words(words, most: 80)
  }

  /// The message of the error of a call that expects JSON.
  /// - Parameter cure: A sentence for a call that may expect the page, after a space; empty if there is none.
  func message(_ head: ResponseHead, cure: String = "") -> String {
    APIError.ended(
      "The server answered \(head.status)\(head.shownReason) with an HTML page, but JSON was expected; check the URL, "
        + "and whether a login page or a proxy answered.\(cure) The page begins with \(beginning)")
  }
}
