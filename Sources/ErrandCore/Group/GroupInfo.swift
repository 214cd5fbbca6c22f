/// The identity of a batch or a chain.
public struct GroupInfo: Sendable, CustomStringConvertible {
  /// The number of the group. No two groups or calls of a process have the same number.
  public let id: UInt64
  /// The name of the group; by default the name of its type.
  public let name: String
  /// The kind of the group.
  public let kind: GroupKind
  /// The tag with which the group was started; nil if the group has no tag.
  public let tag: String?
  /// Which loading indicator is shown while the group runs.
  public let indicator: IndicatorChoice

  /// The kind, the number and the name of the group, such as `chain #12 sign up`.
  public var description: String { name.lowercased() == "\(kind)" ? "\(kind) #\(id)" : "\(kind) #\(id) \(name)" }
}
