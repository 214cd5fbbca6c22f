#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import Glibc

  /// An IP address as bytes.
  struct CurlAddress: Sendable {
    let bytes: [UInt8]

    /// The address that libcurl is about to connect to; nil if it is not an IP address.
    init?(_ address: UnsafePointer<curl_sockaddr>) {
      self.init { errand_address_bytes(address, $0) }
    }

    /// A numeric address without brackets; nil for anything else.
    init?(_ text: String) {
      guard !text.utf8.contains(0) else { return nil }
      self.init { errand_address_parse(text, $0) }
    }

    /// An address in any numeric form that the system accepts, such as 127.1; nil for a name.
    init?(anyForm text: String) {
      self.init { room in
        var four = in_addr()
        guard !text.utf8.contains(0) else { return 0 }
        guard inet_aton(text, &four) != 0 else { return errand_address_parse(text, room) }
        let bytes = withUnsafeBytes(of: four.s_addr, Array.init)
        UnsafeMutableRawBufferPointer(start: room, count: bytes.count).copyBytes(from: bytes)
        return bytes.count
      }
    }

    private init?(_ fill: (UnsafeMutablePointer<UInt8>?) -> Int) {
      var room = [UInt8](repeating: 0, count: 16)
      let count = room.withUnsafeMutableBufferPointer { fill($0.baseAddress) }
      guard count > 0 else { return nil }
      bytes = Array(room[..<count])
    }

    /// The kind of network that the address belongs to.
    var kind: AddressKind? { AddressKind(bytes: bytes) }

    /// The address in its usual text form.
    var text: String {
      var room = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      let family = bytes.count == 4 ? AF_INET : AF_INET6
      guard inet_ntop(family, bytes, &room, socklen_t(room.count)) != nil else { return "?" }
      return room.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
  }
#endif
