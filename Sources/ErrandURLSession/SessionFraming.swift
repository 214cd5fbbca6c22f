import ErrandHTTP

/// Checks whether the headers of a response say clearly where the body ends (RFC 9112 section 6). URLSession on Linux
/// does not check this.
enum SessionFraming {
  /// Says why it is unclear where the body of the response ends; nil if the end is clear.
  static func fault(of head: ResponseHead) -> String? {
    let length = head.fields[.contentLength]
    if let length, !isNumber(length) { return "Content-Length is not a single number" }
    guard let coding = head.fields["Transfer-Encoding"] else { return nil }
    if coding.lowercased() != "chunked" { return "Transfer-Encoding is not `chunked`" }
    return length == nil ? nil : "the response has both Content-Length and Transfer-Encoding"
  }

  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit) && Int64(text) != nil
  }
}
