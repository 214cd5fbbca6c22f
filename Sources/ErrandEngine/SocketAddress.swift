#if os(Linux)
  import ErrandHTTP
  import Glibc

  /// The address that a socket connects to: an IP address with a port, or the path of a Unix domain socket.
  struct SocketAddress: Sendable, Hashable {
    /// The address in the system's form: a `sockaddr` for IPv4, IPv6 or a Unix domain socket.
    private let raw: [UInt8]

    /// Copies a `sockaddr` of the system. Returns nil if the address family is not IPv4, IPv6 or Unix.
    init?(_ address: UnsafePointer<sockaddr>, count: Int) {
      guard count >= 2, [AF_INET, AF_INET6, AF_UNIX].contains(Int32(address.pointee.sa_family)) else { return nil }
      raw = Array(UnsafeRawBufferPointer(start: address, count: count))
    }

    /// Creates the address of a Unix domain socket. Nil if the path is empty, is too long, or contains NUL.
    init?(socket path: String) {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8)
      let capacity = MemoryLayout.size(ofValue: address.sun_path)
      guard !bytes.isEmpty, bytes.count < capacity, !bytes.contains(0) else { return nil }
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
      raw = withUnsafeBytes(of: address) { Array($0) }
    }

    /// Parses a numeric address, such as `127.0.0.1`, `::1`, `[::1]` or `fe80::1%eth0`. Nil if the text is a name.
    init?(numeric text: String, port: Int) {
      guard !text.utf8.contains(0) else { return nil }
      let isInBrackets = text.utf8.first == 0x5B && text.utf8.last == 0x5D
      let host = isInBrackets ? String(text.dropFirst().dropLast()) : text
      guard case .success(let found) = Self.addresses(of: host, port: port, isNumeric: true),
        let address = found.first
      else { return nil }
      self = address
    }

    /// The reason why the lookup of a name failed.
    struct LookupFailure: Error {
      let text: String
      /// True if no file descriptor was left. The system's lookup then reports that the name cannot be resolved.
      var lacksDescriptors = false
    }

    /// Looks up the addresses of a host, in the order that the system prefers (RFC 6724). Blocks if the host is a name.
    static func addresses(
      of host: String, port: Int, isNumeric: Bool = false
    ) -> Result<[SocketAddress], LookupFailure> {
      var hints = addrinfo()
      hints.ai_family = AF_UNSPEC
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      hints.ai_flags = AI_NUMERICSERV | (isNumeric ? AI_NUMERICHOST : 0)
      var list: UnsafeMutablePointer<addrinfo>?
      let code = getaddrinfo(host, String(port), &hints, &list)
      defer { if let list { freeaddrinfo(list) } }
      guard code == 0 else {
        let lacksDescriptors = !isNumeric && EngineSocket.lacksDescriptors
        return .failure(LookupFailure(text: String(cString: gai_strerror(code)), lacksDescriptors: lacksDescriptors))
      }
      var found: [SocketAddress] = []
      var next = list
      while let entry = next {
        if let address = entry.pointee.ai_addr, let made = SocketAddress(address, count: Int(entry.pointee.ai_addrlen))
        {
          found.append(made)
        }
        next = entry.pointee.ai_next
      }
      return .success(found)
    }

    /// The address family: `AF_INET`, `AF_INET6` or `AF_UNIX`.
    var family: Int32 {
      Int32(raw.withUnsafeBytes { $0.loadUnaligned(as: sa_family_t.self) })
    }

    var isUnix: Bool { family == AF_UNIX }

    /// The kind of network that the address belongs to. Nil for a Unix domain socket.
    var kind: AddressKind? { bytes.flatMap { AddressKind(bytes: $0) } }

    /// The bytes of the IP address, in network order. Nil for a Unix domain socket.
    var bytes: ArraySlice<UInt8>? {
      switch family {
      case AF_INET where raw.count >= 8: raw[4..<8]
      case AF_INET6 where raw.count >= 24: raw[8..<24]
      default: nil
      }
    }

    /// The port. Nil for a Unix domain socket.
    var port: Int? {
      guard !isUnix, raw.count >= 4 else { return nil }
      return Int(raw[2]) << 8 | Int(raw[3])  // network order, at the same place for IPv4 and IPv6
    }

    /// The numeric address, with the scope of a link-local address. The path if the address is a Unix domain socket.
    var text: String {
      if isUnix { return String(decoding: raw.dropFirst(2).prefix { $0 != 0 }, as: UTF8.self) }
      var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let code = withSystemAddress { address, count in
        getnameinfo(address, count, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
      }
      guard code == 0 else { return "?" }
      return buffer.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Passes the address to a function of the system, and returns its result.
    func withSystemAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
      raw.withUnsafeBytes { bytes in
        bytes.withMemoryRebound(to: sockaddr.self) { address in
          // `baseAddress` is nil only for an empty address, which no initializer creates. The result -1 means a
          // failure.
          address.baseAddress.map { body($0, socklen_t(bytes.count)) } ?? -1
        }
      }
    }
  }

  /// The other end of a connection, in the form in which metrics contain it.
  struct EnginePeer {
    /// The numeric address, or the path of a Unix domain socket.
    let address: String
    /// The port. Nil for a Unix domain socket.
    let port: Int?

    init(_ address: SocketAddress) { (self.address, port) = (address.text, address.port) }
  }
#endif
