#if os(Linux)
  import ErrandHTTP
  import Glibc

  /// The sentences of failures that the engine knows more about than their kind.
  enum EngineFailure {
    /// Why an address is not connected to, and the cure.
    static func refusal(of address: SocketAddress, host: String) -> String {
      let kind = address.kind?.rawValue ?? "unknown"
      return "The host \(host) has the address \(address.text) (\(kind)), which `addressPolicy` forbids; allow that "
        + "kind if the host is intended."
    }

    /// Why a host has no address.
    static func lookup(_ origin: HTTPURL.Origin, _ failure: SocketAddress.LookupFailure) -> String {
      with(failure.text, FailureText.sentence(for: .nameLookup, origin: origin))
    }

    /// Why no connection was made, by the system's error number.
    static func connecting(
      _ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin, socket path: String?, error: Int32
    ) -> String {
      let sentence = path.map(FailureText.refused(socket:)) ?? FailureText.sentence(for: kind, origin: origin)
      return with(String(cString: strerror(error)), sentence)
    }

    /// The refusal of what the engine cannot do, which names the capability.
    static func lacks(_ capability: String, _ text: String) -> TransportFailure {
      TransportFailure(
        .unsupported, "The engine cannot \(text) yet (capability \(capability)); choose the transport \"curl\".",
        isCertainlyNotSent: true)
    }

    static let inHead = "The connection closed within the response headers."

    private static func with(_ cause: String, _ sentence: String) -> String { "\(sentence.dropLast()) (\(cause))." }
  }
#endif
