/// Who a batch or a chain is.
public struct GroupInfo: Sendable, CustomStringConvertible {
  /// The group's number, never used twice in a process; calls count from the same row.
  public let id: UInt64
  /// Its name: that of its type, unless it says otherwise.
  public let name: String
  /// What kind of group it is.
  public let kind: GroupKind
  /// The tag it was started with.
  public let tag: String?
  /// Which loading indicator counts it.
  public let indicator: IndicatorChoice

  /// Kind, number and name.
  public var description: String { name.lowercased() == kind.rawValue ? "\(kind) #\(id)" : "\(kind) #\(id) \(name)" }
}
