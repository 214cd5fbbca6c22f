#if os(Linux)
  import ErrandHTTP
  import Foundation

  /// A reusable buffer for the bytes of requests that are sent.
  struct RequestBuffer: ~Copyable {
    /// The largest capacity in bytes that is kept after a request. A larger buffer is freed.
    private static let mostKept = 256 << 10

    private var memory: UnsafeMutableRawPointer
    private var capacity = 4096
    private(set) var count = 0

    init() { memory = .allocate(byteCount: capacity, alignment: 16) }

    deinit { memory.deallocate() }

    /// The bytes of the request. The pointer is valid until the next change of the buffer.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

    /// Writes a request: its headers, and its body if headers and body are sent in one write. If a proxy forwards the
    /// request, its target is the whole URL (RFC 9112 section 3.2.2), and `authorization` is the value of
    /// `Proxy-Authorization`.
    mutating func write(
      _ request: HTTPRequest, upload: BodyUpload?, expectsContinue: Bool, isForwarded: Bool = false,
      authorization: String? = nil
    ) {
      empty()
      append(request.method.rawValue)
      append(" ")
      if isForwarded { append(request.url.origin.description) }
      appendTarget(request.url)
      append(" HTTP/1.1\r\nHost: ")
      append(request.url.host)
      if request.url.port != request.url.scheme.defaultPort {
        append(":")
        append(String(request.url.port))
      }
      append("\r\n")
      if let authorization {
        append("Proxy-Authorization: ")
        append(octetsOf: authorization)
        append("\r\n")
      }
      for field in request.fields.all { append(field) }
      appendFraming(request, upload)
      if upload != nil, expectsContinue { append("Expect: 100-continue\r\n") }
      append("\r\n")
      if upload == nil, let data = request.body?.data { data.withUnsafeBytes { append($0) } }
    }

    private mutating func empty() {
      count = 0
      guard capacity > Self.mostKept else { return }
      memory.deallocate()
      capacity = 4096
      memory = .allocate(byteCount: capacity, alignment: 16)
    }

    /// Writes the path and the query of the request target. The URL of a request contains no fragment.
    private mutating func appendTarget(_ url: HTTPURL) {
      let utf8 = url.string.utf8
      if utf8.dropFirst(url.pathStart).first != 0x2F { append("/") }
      var text = url.string
      let start = url.pathStart
      text.withUTF8 { text in
        guard start < text.count else { return }
        append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: text[start...])))
      }
    }

    /// Writes the field that defines the end of the body (RFC 9112 section 6).
    private mutating func appendFraming(_ request: HTTPRequest, _ upload: BodyUpload?) {
      if let upload, upload.total == nil { return append("Transfer-Encoding: chunked\r\n") }
      let length = request.method == .head ? nil : request.body?.length
      guard length != nil || Self.needsContentLength(request.method) else { return }
      append("Content-Length: ")
      append(String(length ?? 0))
      append("\r\n")
    }

    /// True if a request with this method must send `Content-Length: 0` when it has no body (RFC 9110 section 8.6).
    static func needsContentLength(_ method: HTTPMethod) -> Bool {
      switch method.rawValue {
      case "POST", "PUT", "PATCH", "QUERY": true
      default: false
      }
    }

    private mutating func append(_ field: HTTPField) {
      append(field.name.rawValue)
      append(field.value.isEmpty ? ":" : ": ")
      if field.name.isSentBack { append(octetsOf: field.value) } else { append(field.value) }
      append("\r\n")
    }

    private mutating func append(octetsOf value: String) {
      guard FieldOctets.holds(value) else { return append(value) }
      FieldOctets.bytes(of: value).withUnsafeBytes { append($0) }
    }

    private mutating func append(_ text: StaticString) {
      append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(_ text: String) {
      var text = text
      text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
      guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
      reserve(count + bytes.count)
      (memory + count).copyMemory(from: base, byteCount: bytes.count)
      count += bytes.count
    }

    private mutating func reserve(_ needed: Int) {
      guard needed > capacity else { return }
      capacity = needed * 2
      let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
      larger.copyMemory(from: memory, byteCount: count)
      memory.deallocate()
      memory = larger
    }
  }
#endif
