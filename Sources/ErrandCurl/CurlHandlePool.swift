#if os(Linux)
  /// Easy handles that wait for their next use, where libcurl allows a second one. Making one costs more than a quarter
  /// of a small request.
  struct CurlHandlePool {
    private static let most = 128

    private let allowsReuse: Bool
    private var handles: [CurlHandle] = []

    init(allowsReuse: Bool) { self.allowsReuse = allowsReuse }

    mutating func take() -> CurlHandle? { handles.popLast() }

    /// Keeps a handle; without reuse it is freed. Connections belong to the multi handle and stay open.
    mutating func give(_ handle: CurlHandle) {
      if allowsReuse, handles.count < Self.most { handles.append(handle) }
    }

    mutating func removeAll() { handles = [] }
  }
#endif
