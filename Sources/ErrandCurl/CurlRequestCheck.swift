#if os(Linux)
  import ErrandHTTP

  /// Rejects requests that libcurl would send unchecked or would silently change, before libcurl receives them.
  enum CurlRequestCheck {
    /// The maximum length of a field value in bytes. libcurl 8.13.0 to 8.21.0 silently omits longer fields from the
    /// request.
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
