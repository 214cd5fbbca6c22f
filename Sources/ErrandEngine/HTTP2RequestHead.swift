#if os(Linux)
  import CNGHTTP2
  import ErrandHTTP

  /// The header section of an HTTP/2 request (RFC 9113 section 8.3.1), in memory that is reused for later requests.
  struct HTTP2RequestHead {
    private struct Field {
      let name: Range<Int>
      let value: Range<Int>
      let isSecret: Bool
    }

    /// The largest number of bytes that are kept after a request.
    private static let mostKept = 64 << 10

    private var bytes: [UInt8] = []
    private var fields: [Field] = []
    /// The list for libnghttp2, which points into ``bytes``.
    private var list: [nghttp2_nv] = []

    /// Writes the header section of a request.
    mutating func write(_ request: HTTPRequest, upload: BodyUpload?, expectsContinue: Bool) {
      bytes.removeAll(keepingCapacity: bytes.capacity <= Self.mostKept)
      fields.removeAll(keepingCapacity: true)
      let url = request.url
      add(":method", request.method.rawValue)
      add(":scheme", url.scheme.rawValue)
      add(":authority", url.port == url.scheme.defaultPort ? url.host : "\(url.host):\(url.port)")
      addPath(url)
      for field in request.fields.all { add(field) }
      let length = request.method == .head ? nil : request.body?.length
      if let length {
        add("content-length", String(length))
      } else if request.body == nil, RequestBuffer.needsContentLength(request.method) {
        add("content-length", "0")
      }
      if upload != nil, expectsContinue { add("expect", "100-continue") }
    }

    /// Passes the fields to `body` in the form that libnghttp2 needs. The list is valid only during the call.
    mutating func withList<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
      list.removeAll(keepingCapacity: true)
      return bytes.withUnsafeMutableBufferPointer { bytes in
        for field in fields {
          var entry = nghttp2_nv()
          entry.name = bytes.baseAddress.map { $0 + field.name.lowerBound }
          entry.namelen = field.name.count
          entry.value = bytes.baseAddress.map { $0 + field.value.lowerBound }
          entry.valuelen = field.value.count
          entry.flags = UInt8(field.isSecret ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : NGHTTP2_NV_FLAG_NONE.rawValue)
          list.append(entry)
        }
        return list.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
      }
    }

    private mutating func addPath(_ url: HTTPURL) {
      let utf8 = url.string.utf8.dropFirst(url.pathStart)
      add(":path") { bytes in
        if utf8.first != 0x2F { bytes.append(0x2F) }
        bytes.append(contentsOf: utf8)
      }
    }

    /// Writes a field of the request. The name is in lower case (RFC 9113 section 8.2.1).
    private mutating func add(_ field: HTTPField) {
      let name = append { $0.append(contentsOf: field.name.rawValue.utf8.lazy.map(ASCII.lowercased)) }
      let value = append { bytes in
        if field.name.isSentBack, FieldOctets.holds(field.value) {
          bytes.append(contentsOf: FieldOctets.bytes(of: field.value))
        } else {
          bytes.append(contentsOf: field.value.utf8)
        }
      }
      fields.append(Field(name: name, value: value, isSecret: field.isSecret || Self.isSecret(field.name)))
    }

    private mutating func add(_ name: String, _ value: String) { add(name) { $0.append(contentsOf: value.utf8) } }

    private mutating func add(_ name: String, _ value: (inout [UInt8]) -> Void) {
      let name = append { $0.append(contentsOf: name.utf8) }
      fields.append(Field(name: name, value: append(value), isSecret: false))
    }

    private mutating func append(_ write: (inout [UInt8]) -> Void) -> Range<Int> {
      let start = bytes.count
      write(&bytes)
      return start..<bytes.count
    }

    /// True for a field whose value must not be stored in the compression tables of proxies and servers (RFC 7541
    /// section 7.1.3).
    private static func isSecret(_ name: HTTPFieldName) -> Bool {
      name == .authorization || name == .cookie || name == .proxyAuthorization
        || ["-key", "-token", "-secret"].contains { ending in
          ASCII.equalFolded(name.rawValue.utf8.suffix(ending.utf8.count), ending.utf8)
        }
    }
  }
#endif
