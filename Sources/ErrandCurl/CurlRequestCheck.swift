#if os(Linux)
  import ErrandHTTP

  /// What libcurl would send as it is, or not at all, is refused before it is told of it.
  enum CurlRequestCheck {
    /// libcurl 8.13.0 to 8.21.0 leaves longer fields out of the request without a word.
    private static let longestField = 300_000
    private static let refusal = CurlVersion.running.refusal

    static func check(_ request: HTTPRequest) throws(TransportFailure) {
      if let refusal { throw RequestCheck.refused(refusal) }
      for field in request.fields.all where field.value.utf8.count > longestField {
        throw RequestCheck.refused("the value of \(field.name) has more than \(longestField) bytes")
      }
      try RequestCheck.check(request)
    }
  }
#endif
