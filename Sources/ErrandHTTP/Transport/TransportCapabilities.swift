/// What a transport can do. A call that needs more fails while it is built and names the capability.
public struct TransportCapabilities: OptionSet, Sendable, Hashable, CustomStringConvertible {
  /// The bits.
  public let rawValue: UInt32
  /// Makes a set of bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Hands the body to a ``BodySink`` piece by piece, and pauses.
  public static let bodySink = TransportCapabilities(rawValue: 1 << 0)
  /// Reports informational answers.
  public static let informational = TransportCapabilities(rawValue: 1 << 1)
  /// Reports trailers.
  public static let trailers = TransportCapabilities(rawValue: 1 << 2)
  /// Speaks HTTP/2.
  public static let http2 = TransportCapabilities(rawValue: 1 << 3)
  /// Goes through proxies.
  public static let proxy = TransportCapabilities(rawValue: 1 << 4)
  /// Measures its phases.
  public static let metrics = TransportCapabilities(rawValue: 1 << 5)
  /// Reports progress of both bodies.
  public static let progress = TransportCapabilities(rawValue: 1 << 6)
  /// Registers with the exchange's ``CallState`` itself. Others run in a task that a stop cancels.
  public static let observesStop = TransportCapabilities(rawValue: 1 << 7)
  /// Can tell cellular and expensive networks from others, and wait for connectivity.
  public static let networkKind = TransportCapabilities(rawValue: 1 << 8)

  /// Sends bodies that a ``BodySource`` gives while they are sent.
  public static let bodySource = TransportCapabilities(rawValue: 1 << 9)
  /// Sends bodies that are a whole file (``HTTPBody/filePath``). One that has ``bodySource`` need not say so.
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
