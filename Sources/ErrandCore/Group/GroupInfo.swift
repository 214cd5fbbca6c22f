/// The identity of a batch or a chain.
public struct GroupInfo: Sendable, CustomStringConvertible {
  /// The number of the group. No two groups or calls of a process have the same number.
  public let id: UInt64
  /// The name of the group; by default the name of its type.
  public let name: String
  /// The kind of the group.
  public let kind: GroupKind
  /// The tag with which the group was started; nil for none.
  public let tag: String?
  /// The loading indicator that counts the group.
  public let indicator: IndicatorChoice

  /// The kind, the number and the name of the group.
  public var description: String { name.lowercased() == kind.rawValue ? "\(kind) #\(id)" : "\(kind) #\(id) \(name)" }
}
