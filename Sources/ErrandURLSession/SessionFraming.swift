import ErrandHTTP

/// What of an answer's framing can be seen in its fields (RFC 9112 section 6). URLSession on Linux takes it on trust.
enum SessionFraming {
  /// Why nobody can say where the answer ends; nil where it can be said.
  static func fault(of head: ResponseHead) -> String? {
    let length = head.fields[.contentLength]
    if let length, !isNumber(length) { return "Content-Length is not one number of bytes" }
    guard let coding = head.fields["Transfer-Encoding"] else { return nil }
    if coding.lowercased() != "chunked" { return "the transfer coding is not chunked alone" }
    return length == nil ? nil : "the answer has both Content-Length and Transfer-Encoding"
  }

  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit) && Int64(text) != nil
  }
}
