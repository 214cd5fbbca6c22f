#if os(Linux)
  /// Easy handles that wait for their next use. Making one costs more than a quarter of a small request.
  struct CurlHandlePool {
    private static let most = 128

    private var handles: [CurlHandle] = []

    mutating func take() -> CurlHandle? { handles.popLast() }

    mutating func give(_ handle: CurlHandle) {
      if handles.count < Self.most { handles.append(handle) }
    }

    mutating func removeAll() { handles = [] }
  }
#endif
