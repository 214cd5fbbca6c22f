#if os(Linux)
  import ErrandHTTP
  import Glibc

  /// The messages that contain more details than the general message for a kind of failure.
  enum EngineFailure {
    /// The message for an address that the address policy forbids.
    static func refusal(of address: SocketAddress, host: String) -> String {
      let kind = address.kind?.rawValue ?? "unknown"
      return "The host \(host) has the address \(address.text) (\(kind)), which `addressPolicy` forbids; allow this "
        + "kind of address if you trust the host."
    }

    /// The message for a failed lookup of a host.
    static func lookup(_ origin: HTTPURL.Origin, _ failure: SocketAddress.LookupFailure) -> String {
      with(failure.text, FailureText.sentence(for: .nameLookup, origin: origin))
    }

    /// The message for a failed connection attempt, with the description of the system's error number.
    static func connecting(
      _ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin, socket path: String?, error: Int32
    ) -> String {
      let sentence = path.map(FailureText.refused(socket:)) ?? FailureText.sentence(for: kind, origin: origin)
      return with(String(cString: strerror(error)), sentence)
    }

    /// The failure of a request that needs a capability which the engine does not have. The message names the
    /// capability.
    static func lacks(_ capability: String, _ text: String) -> TransportFailure {
      TransportFailure(
        .unsupported, "The engine cannot \(text) yet (capability \(capability)); choose the transport \"curl\".",
        isCertainlyNotSent: true)
    }

    static let inHead = "The connection closed within the response headers."

    private static func with(_ cause: String, _ sentence: String) -> String { "\(sentence.dropLast()) (\(cause))." }
  }
#endif
