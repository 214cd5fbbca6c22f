#if os(Linux)
  import CCurl
  import ErrandHTTP

  /// The field lines of a request as a list for libcurl, in memory that is reused for later requests.
  ///
  /// libcurl only reads the list during the transfer, so the nodes and the texts of the list are stored in two plain
  /// buffers.
  struct CurlFieldList: ~Copyable {
    private var starts: [Int] = []
    private var nodes: UnsafeMutablePointer<curl_slist>
    private var nodeCapacity = 8
    private var text: UnsafeMutablePointer<CChar>
    private var textCapacity = 1024
    private var textCount = 0

    init() {
      nodes = .allocate(capacity: nodeCapacity)
      text = .allocate(capacity: textCapacity)
    }

    deinit {
      nodes.deallocate()
      text.deallocate()
    }

    /// Builds the list for a request. The list is valid until the next call of this method.
    ///
    /// A name with a colon and no value removes a field that libcurl would add by default. `Expect` is always written,
    /// because libcurl's rules for adding it have changed between releases.
    mutating func build(
      _ fields: HTTPFields, removesContentType: Bool, expectsContinue: Bool
    ) -> UnsafeMutablePointer<curl_slist> {
      textCount = 0
      starts.removeAll(keepingCapacity: true)
      var hasAccept = false
      var hasContentType = false
      for field in fields.all {
        switch field.name.rawValue.utf8.count {
        case 6 where field.name == .accept: hasAccept = true
        case 12 where field.name == .contentType: hasContentType = true
        default: break
        }
        add(field)
      }
      add(expectsContinue ? "Expect: 100-continue" : "Expect:")
      if !hasAccept { add("Accept:") }
      if removesContentType, !hasContentType { add("Content-Type:") }
      return link()
    }

    private mutating func add(_ field: HTTPField) {
      starts.append(textCount)
      append(field.name.rawValue)
      if ASCII.all(field.value, { $0 == 0x20 || $0 == 0x09 }) {
        append(";")
      } else {
        append(": ")
        append(value: field)
      }
      append("\0")
    }

    private mutating func add(_ line: String) {
      starts.append(textCount)
      append(line)
      append("\0")
    }

    /// Appends the value of a field. Cookies, entity tags, and the realm and the nonce of a challenge are sent back with
    /// exactly the bytes that the server sent.
    private mutating func append(value field: HTTPField) {
      guard field.name.isSentBack, FieldOctets.holds(field.value) else { return append(field.value) }
      FieldOctets.bytes(of: field.value).withUnsafeBufferPointer { append($0) }
    }

    private mutating func append(_ piece: String) {
      var piece = piece
      piece.withUTF8 { append($0) }
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
      guard let base = bytes.baseAddress else { return }
      reserve(textCount + bytes.count)
      UnsafeMutableRawPointer(text + textCount).copyMemory(from: base, byteCount: bytes.count)
      textCount += bytes.count
    }

    private mutating func reserve(_ count: Int) {
      guard count > textCapacity else { return }
      textCapacity = count * 2
      let larger = UnsafeMutablePointer<CChar>.allocate(capacity: textCapacity)
      larger.update(from: text, count: textCount)
      text.deallocate()
      text = larger
    }

    private mutating func link() -> UnsafeMutablePointer<curl_slist> {
      if starts.count > nodeCapacity {
        nodes.deallocate()
        nodeCapacity = starts.count * 2
        nodes = .allocate(capacity: nodeCapacity)
      }
      for (index, start) in starts.enumerated() {
        let next = index + 1 < starts.count ? nodes + (index + 1) : nil
        (nodes + index).initialize(to: curl_slist(data: text + start, next: next))
      }
      return nodes
    }
  }
#endif
