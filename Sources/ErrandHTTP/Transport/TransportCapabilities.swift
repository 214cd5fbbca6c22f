/// The optional features of a transport. If a call needs a feature that is missing, the call fails when it is built,
/// and the error names the feature.
public struct TransportCapabilities: OptionSet, Sendable, Hashable, CustomStringConvertible {
  /// The bits.
  public let rawValue: UInt32
  /// Makes a set of bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Passes the response body to a ``BodySink`` piece by piece, and can pause the transfer.
  public static let bodySink = TransportCapabilities(rawValue: 1 << 0)
  /// Reports interim responses (1xx).
  public static let informational = TransportCapabilities(rawValue: 1 << 1)
  /// Reports trailers.
  public static let trailers = TransportCapabilities(rawValue: 1 << 2)
  /// Supports HTTP/2.
  public static let http2 = TransportCapabilities(rawValue: 1 << 3)
  /// Supports proxies.
  public static let proxy = TransportCapabilities(rawValue: 1 << 4)
  /// Measures the phases of an exchange, such as name lookup and connecting.
  public static let metrics = TransportCapabilities(rawValue: 1 << 5)
  /// Reports the progress of the request body and the response body.
  public static let progress = TransportCapabilities(rawValue: 1 << 6)
  /// Observes the ``CallState`` of the exchange and ends early if the call is stopped. The library runs other
  /// transports in a task, which is cancelled if the call is stopped.
  public static let observesStop = TransportCapabilities(rawValue: 1 << 7)
  /// Distinguishes cellular and expensive networks from others, and can wait for connectivity.
  public static let networkKind = TransportCapabilities(rawValue: 1 << 8)

  /// Sends request bodies that a ``BodySource`` provides while they are sent.
  public static let bodySource = TransportCapabilities(rawValue: 1 << 9)
  /// Sends request bodies that are a whole file (``HTTPBody/filePath``). A transport with ``bodySource`` has this
  /// feature, too.
  public static let fileBody = TransportCapabilities(rawValue: 1 << 10)

  /// The names of the capabilities.
  public var description: String {
    let names: [(TransportCapabilities, String)] = [
      (.bodySink, "bodySink"), (.informational, "informational"), (.trailers, "trailers"), (.http2, "http2"),
      (.proxy, "proxy"), (.metrics, "metrics"), (.progress, "progress"), (.observesStop, "observesStop"),
      (.networkKind, "networkKind"), (.bodySource, "bodySource"), (.fileBody, "fileBody"),
    ]
    return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}
