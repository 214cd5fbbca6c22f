#if os(Linux)
  /// The easy handles that are not in use, if libcurl allows their reuse. Creating a handle takes more than a quarter
  /// of the time of a small request.
  struct CurlHandlePool {
    private static let most = 128

    private let allowsReuse: Bool
    private var handles: [CurlHandle] = []

    init(allowsReuse: Bool) { self.allowsReuse = allowsReuse }

    mutating func take() -> CurlHandle? { handles.popLast() }

    /// Stores a handle, or frees it if reuse is not allowed. Connections belong to the multi handle and stay open.
    mutating func give(_ handle: CurlHandle) {
      if allowsReuse, handles.count < Self.most { handles.append(handle) }
    }

    mutating func removeAll() { handles = [] }
  }
#endif
