/// A member's place in its group, for an error to say where it comes from.
public struct GroupMember: Sendable, Hashable, CustomStringConvertible {
  /// What kind of group it is.
  public let kind: GroupKind
  /// The group's name.
  public let group: String
  /// The member's place, from 0: in the order it was given for a batch, in the order of starting for a chain.
  public let index: Int
  /// The name of the member: that of the request's type.
  public let name: String

  /// A clause such as `member 2 of the batch, Avatar`.
  public var description: String {
    let role = kind == .batch ? "member" : "step"
    let whole = group.lowercased() == kind.rawValue ? "the \(kind)" : "the \(kind) \(group)"
    return "\(role) \(index + 1) of \(whole), \(name)"
  }
}

/// What kind of group something is.
public enum GroupKind: String, Sendable, Hashable {
  /// Members side by side.
  case batch
  /// One step after the other, and branches where the steps say so.
  case chain
}
