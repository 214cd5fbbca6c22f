/// The optional features of a transport. If a call needs a feature that is missing, the call fails when it is built,
/// and the error names the feature.
public struct TransportCapabilities: OptionSet, Sendable, Hashable, CustomStringConvertible {
  /// One bit for each capability.
  public let rawValue: UInt32
  /// Makes a set of capabilities from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The transport passes the response body to a ``BodySink`` piece by piece, and can pause the transfer.
  public static let bodySink = TransportCapabilities(rawValue: 1 << 0)
  /// The transport reports interim responses (1xx).
  public static let informational = TransportCapabilities(rawValue: 1 << 1)
  /// The transport reports the trailer fields of a response.
  public static let trailers = TransportCapabilities(rawValue: 1 << 2)
  /// The transport supports HTTP/2.
  public static let http2 = TransportCapabilities(rawValue: 1 << 3)
  /// The transport supports proxies.
  public static let proxy = TransportCapabilities(rawValue: 1 << 4)
  /// The transport measures the phases of an exchange, such as name lookup and connecting.
  public static let metrics = TransportCapabilities(rawValue: 1 << 5)
  /// The transport reports the progress of the request body and the response body.
  public static let progress = TransportCapabilities(rawValue: 1 << 6)
  /// The transport observes the ``CallState`` of the exchange and ends early if the call is stopped. The library runs
  /// all other transports in a task, which is cancelled if the call is stopped.
  public static let observesStop = TransportCapabilities(rawValue: 1 << 7)
  /// The transport distinguishes cellular and expensive networks from others, and can wait for connectivity.
  public static let networkKind = TransportCapabilities(rawValue: 1 << 8)

  /// The transport sends request bodies whose bytes a ``BodySource`` provides during sending.
  public static let bodySource = TransportCapabilities(rawValue: 1 << 9)
  /// The transport sends request bodies that are a whole file (``HTTPBody/filePath``). A transport with ``bodySource``
  /// can send such bodies, too.
  public static let fileBody = TransportCapabilities(rawValue: 1 << 10)

  /// The names of the capabilities, separated by commas.
  public var description: String {
    let names: [(TransportCapabilities, String)] = [
      (.bodySink, "bodySink"), (.informational, "informational"), (.trailers, "trailers"), (.http2, "http2"),
      (.proxy, "proxy"), (.metrics, "metrics"), (.progress, "progress"), (.observesStop, "observesStop"),
      (.networkKind, "networkKind"), (.bodySource, "bodySource"), (.fileBody, "fileBody"),
    ]
    return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}
