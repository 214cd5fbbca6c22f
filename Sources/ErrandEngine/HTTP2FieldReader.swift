#if os(Linux)
  import ErrandHTTP

  /// Checks the fields of the header sections on one HTTP/2 stream (RFC 9113 section 8.2 and 8.3), and collects them.
  ///
  /// The reader passes each field to the parser for HTTP/1.1 as a line, so that the same rules and limits apply.
  struct HTTP2FieldReader {
    enum Section: Equatable { case head, trailers }

    private(set) var parser: HeadParser
    private var trailers: FieldCollector
    private var trailerBytes = 0
    private var section = Section.head
    private var hasStatus = false
    /// The current field as a line.
    private var line: [UInt8] = []

    init(limits: ResponseLimits, isHeadRequest: Bool) {
      parser = HeadParser(limits: limits, isHeadRequest: isHeadRequest, dialect: .http2)
      trailers = FieldCollector(limit: limits.fieldCount)
    }

    /// Begins a header section.
    mutating func begin(_ section: Section) {
      self.section = section
      hasStatus = false
    }

    mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(TransportFailure) {
      guard name.first != 0x3A else { return try takePseudoField(name, value) }
      guard section == .trailers || hasStatus else { throw Self.lacksStatus }
      try Self.check(name)
      line.removeAll(keepingCapacity: true)
      line.append(contentsOf: name)
      line.append(0x3A)
      line.append(contentsOf: value)
      line.append(0x0D)
      line.append(0x0A)
      if section == .head { _ = try passLine() } else { try takeTrailer() }
    }

    /// Ends the headers of a response. Returns nil for an informational response.
    mutating func endHead() throws(TransportFailure) -> BodyFraming? {
      guard hasStatus else { throw Self.lacksStatus }
      line = [0x0D, 0x0A]
      defer { line = [] }
      guard case .final(let framing) = try passLine() else { return nil }
      return framing
    }

    mutating func takeTrailers() -> HTTPFields { trailers.take() }

    /// Takes `:status`. A response has no other pseudo-header field, and `:status` is its first field (RFC 9113 section
    /// 8.3).
    private mutating func takePseudoField(
      _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(TransportFailure) {
      guard section == .head else { throw .malformed("the trailers contain a pseudo-header field") }
      guard name.elementsEqual(":status".utf8) else {
        throw .malformed("the response headers have an unknown pseudo-header field")
      }
      guard !hasStatus else { throw .malformed("the response headers contain :status twice") }
      guard value.count == 3, value.allSatisfy(ASCII.isDigit) else {
        throw .malformed("the status code is not a number of three digits")
      }
      hasStatus = true
      line = Array("HTTP/2 ".utf8)
      line.append(contentsOf: value)
      line.append(0x20)
      line.append(0x0D)
      line.append(0x0A)
      _ = try passLine()
    }

    private mutating func passLine() throws(TransportFailure) -> HeadParser.Event {
      let line = line
      let result = line.withUnsafeBytes { bytes in
        Result { () throws(TransportFailure) in try parser.take(bytes) }
      }
      return try result.get()
    }

    private mutating func takeTrailer() throws(TransportFailure) {
      trailerBytes += line.count
      guard trailerBytes <= parser.limits.headBytes else {
        throw .tooLarge("the trailers are longer than \(parser.limits.headBytes) bytes", raise: "headBytes")
      }
      let line = line
      let result = line.withUnsafeBytes { bytes in
        Result { () throws(TransportFailure) in try trailers.append(HeadLine.content(bytes)) }
      }
      try result.get()
    }

    /// Checks the name of a field by the rules that only HTTP/2 has (RFC 9113 sections 8.2.1 and 8.2.2). White space
    /// around a value is removed as in HTTP/1.1 instead of rejected, because servers such as nginx forward it.
    private static func check(_ name: UnsafeRawBufferPointer) throws(TransportFailure) {
      guard !name.isEmpty, name.allSatisfy({ ASCII.isToken($0) && ASCII.lowercased($0) == $0 }) else {
        throw .malformed("the name of a field contains an invalid character or an upper-case letter")
      }
      guard !concernsConnection(name) else {
        throw .malformed("the response has a field that describes the connection, which HTTP/2 forbids")
      }
    }

    private static let lacksStatus = TransportFailure.malformed("the response headers do not begin with :status")

    private static func concernsConnection(_ name: UnsafeRawBufferPointer) -> Bool {
      switch name.count {
      case 7: HeadLine.equalFolded(name, "upgrade")
      case 10: HeadLine.equalFolded(name, "connection") || HeadLine.equalFolded(name, "keep-alive")
      case 16: HeadLine.equalFolded(name, "proxy-connection")
      case 17: HeadLine.equalFolded(name, "transfer-encoding")
      default: false
      }
    }
  }
#endif
