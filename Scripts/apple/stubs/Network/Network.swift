public import Dispatch

// The declarations of Network that the sources use.

/// https://developer.apple.com/documentation/network/nwpath
public struct NWPath: Sendable {
  /// https://developer.apple.com/documentation/network/nwpath/status-swift.enum
  public enum Status: Sendable {
    case satisfied, unsatisfied, requiresConnection
  }
  public var status: Status { fatalError() }
}

/// https://developer.apple.com/documentation/network/nwpathmonitor
public final class NWPathMonitor: Sendable {
  public init() {}
  public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
    get { fatalError() }
    set {}
  }
  public func start(queue: DispatchQueue) {}
  public func cancel() {}
}
