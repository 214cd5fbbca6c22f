#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import Glibc

  /// The callbacks of libcurl, which run on the thread of the event loop. Each callback finds its transfer and forwards
  /// the call.
  enum CurlCallbacks {
    static let head: curl_write_callback = { buffer, size, count, data in
      guard let transfer = transfer(data) else { return 0 }
      return transfer.takeHeadLine(UnsafeRawBufferPointer(start: buffer, count: size * count))
    }

    static let body: curl_write_callback = { buffer, size, count, data in
      guard let transfer = transfer(data) else { return 0 }
      return transfer.takeBody(UnsafeRawBufferPointer(start: buffer, count: size * count))
    }

    static let upload: curl_read_callback = { buffer, size, count, data in
      guard let transfer = transfer(data) else { return Int(CURL_READFUNC_ABORT) }
      return transfer.giveBody(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
    }

    /// libcurl calls this function when a connection is established and the request is about to be sent.
    static let beforeRequest: curl_prereq_callback = { data, remote, local, remotePort, localPort in
      guard let transfer = transfer(data), let remote, let local else { return CURL_PREREQFUNC_ABORT }
      let connection = transfer.loop.connections.find(
        local: local, localPort: localPort, remote: remote, remotePort: remotePort)
      return transfer.mayRequest(over: connection) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// Receives a debug message of libcurl while verbose output is on.
    static let debugMessage: curl_debug_callback = { _, kind, text, count, data in
      guard kind == CURLINFO_TEXT, let message = CurlDebugText(UnsafeRawBufferPointer(start: text, count: count)) else {
        return 0
      }
      transfer(data)?.take(message)
      return 0
    }

    /// libcurl calls this function before it sets up a TLS connection.
    static let tlsContext: curl_ssl_ctx_callback = { _, context, data in
      guard let handle = handle(data), let transfer = handle.transfer, let context else {
        return CURLE_SSL_CONNECT_ERROR
      }
      if transfer.proxy.setting.mayUseTLS { return CURLE_OK }
      handle.handshake = transfer.loop.nextHandshake()
      errand_tls_number_handshakes(context, handle.handshake)
      let isMade = errand_tls_demand_host(context, transfer.exchange.request.url.origin.certificateName)
      return isMade ? CURLE_OK : CURLE_SSL_CONNECT_ERROR
    }

    /// Opens a socket for libcurl, unless the address policy forbids the address.
    static let openSocket: curl_opensocket_callback = { data, _, address in
      guard let transfer = transfer(data), let address, transfer.mayConnect(to: address) else {
        return CURL_SOCKET_BAD
      }
      let socket = errand_socket_open(address)
      transfer.lacksResources = socket < 0 && errand_error_is_lack_of_resources(errno)
      if socket >= 0 {
        transfer.loop.connections.opened(socket)
        transfer.socketOpened()
      }
      return socket
    }

    /// Closes a socket of libcurl and removes it from the table of open connections.
    static let closeSocket: curl_closesocket_callback = { data, socket in
      connections(data)?.closed(socket)
      return errand_socket_close(socket)
    }

    private static func transfer(_ data: UnsafeMutableRawPointer?) -> CurlTransfer? {
      data.flatMap { Unmanaged<CurlHandle>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.transfer } }
    }

    private static func handle(_ data: UnsafeMutableRawPointer?) -> CurlHandle? {
      data.map { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func connections(_ data: UnsafeMutableRawPointer?) -> CurlConnections? {
      data.map { Unmanaged<CurlConnections>.fromOpaque($0).takeUnretainedValue() }
    }
  }

  /// A debug message of libcurl about HTTP/2. libcurl reports the numbers of streams only in these messages.
  ///
  /// Each exchange causes many messages, so they are compared byte by byte without a conversion to text.
  enum CurlDebugText: Equatable {
    /// The number of the stream on which libcurl sends the request.
    case stream(UInt32)
    /// The server shuts down the connection, and processes no stream with a higher number (RFC 9113 section 6.8).
    case lastStream(UInt32)
    /// libcurl stops using the connection. Later messages may be about other connections.
    case leaving

    /// Parses a debug message. Returns nil for messages that no case of this type represents.
    init?(_ line: UnsafeRawBufferPointer) {
      switch line.first {
      case UInt8(ascii: "U"):
        guard let number = Self.rest(of: line, behind: "Using Stream ID: ").flatMap(Self.number) else { return nil }
        self = .stream(number)
      case UInt8(ascii: "r"):
        // libcurl 7.88 writes "recveived". Later versions write "received".
        let error =
          Self.rest(of: line, behind: "recveived GOAWAY, error=")
          ?? Self.rest(of: line, behind: "received GOAWAY, error=")
        guard let comma = error?.firstIndex(of: UInt8(ascii: ",")), let error,
          let number = Self.rest(of: UnsafeRawBufferPointer(rebasing: error[comma...]), behind: ", last_stream=")
            .flatMap(Self.number)
        else { return nil }
        self = .lastStream(number)
      case UInt8(ascii: "C"), UInt8(ascii: "R"), UInt8(ascii: "D"):
        guard Self.departures.contains(where: { Self.rest(of: line, behind: $0) != nil }) else { return nil }
        self = .leaving
      default: return nil
      }
    }

    private static let departures: [StaticString] = [
      "Connection died, retrying a fresh connect", "REFUSED_STREAM, ", "Downgrades to HTTP/1.1",
    ]

    /// The text after `prefix`; nil if the line does not begin with `prefix`.
    private static func rest(
      of line: UnsafeRawBufferPointer, behind prefix: StaticString
    ) -> UnsafeRawBufferPointer? {
      let count = prefix.utf8CodeUnitCount
      guard line.count >= count, let start = line.baseAddress, memcmp(start, prefix.utf8Start, count) == 0 else {
        return nil
      }
      return UnsafeRawBufferPointer(rebasing: line[count...])
    }

    private static func number(_ text: UnsafeRawBufferPointer) -> UInt32? {
      UInt32(String(decoding: text.prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }
  }
#endif
