/// The options of one run of a batch or a chain.
public struct GroupOptions: Sendable {
  /// The time limit for the whole group, in addition to the time limits of its members. By default the group has no
  /// time limit.
  public var deadline: TimeLimit
  /// The owner of the group. The group is cancelled when the owner is deallocated. The reference to the owner is weak.
  /// The members of the group have the same owner, unless their own options set another owner.
  public var owner: CallOwner? {
    get { ownership?.owner }
    set { ownership = newValue.map(CallOwner.Reference.init) }
  }
  /// A name by which the group can be cancelled. The members of the group have the same tag, unless their own options
  /// set another tag.
  public var tag: String?
  /// Accessories of the group, in addition to those of the client. Each of them is called once for the group.
  public var accessories: [any Accessory]
  /// Which loading indicator is shown while the group runs.
  public var indicator: IndicatorChoice
  /// The default options of every member: priority, time-outs, cache, headers, accessories. The options of an
  /// individual member override these defaults.
  public var members: CallOptions
  /// A closure that receives the progress of the group, one report after the other. If the group was started with
  /// callbacks, the closure runs on the callback executor, otherwise on the thread on which the progress occurs.
  public var onProgress: (@Sendable (GroupProgress) -> Void)?
  /// An asynchronous hook. The group waits until the hook has ended, then calls the delegate and the completion
  /// closure. The hook does not run on the callback executor, but in a task that is cancelled when the group is
  /// cancelled.
  public var beforeCompletion: (@Sendable (GroupOutcome<Void>) async -> Void)?
  /// A hook that runs on the callback executor, directly before the delegate and the completion closure are called.
  public var afterCompletion: (@Sendable (GroupOutcome<Void>) -> Void)?

  private(set) var ownership: CallOwner.Reference?

  /// Makes options. By default a group has no time limit, no owner and no tag.
  public init(
    deadline: TimeLimit = .never, owner: CallOwner? = nil, tag: String? = nil, accessories: [any Accessory] = [],
    indicator: IndicatorChoice = .inherited, members: CallOptions = CallOptions(),
    onProgress: (@Sendable (GroupProgress) -> Void)? = nil,
    beforeCompletion: (@Sendable (GroupOutcome<Void>) async -> Void)? = nil,
    afterCompletion: (@Sendable (GroupOutcome<Void>) -> Void)? = nil
  ) {
    self.deadline = deadline
    ownership = owner.map(CallOwner.Reference.init)
    self.tag = tag
    self.accessories = accessories
    self.indicator = indicator
    self.members = members
    self.onProgress = onProgress
    self.beforeCompletion = beforeCompletion
    self.afterCompletion = afterCompletion
  }

  /// Options with a time limit for the whole group.
  public static func deadline(_ limit: TimeLimit) -> GroupOptions { GroupOptions(deadline: limit) }
  /// Options with a tag.
  public static func tag(_ tag: String) -> GroupOptions { GroupOptions(tag: tag) }
  /// Options with an owner.
  public static func owner(_ owner: CallOwner) -> GroupOptions { GroupOptions(owner: owner) }

  /// Returns the options of a member of the group. Options that the member does not set are taken from these group
  /// options.
  func forMember(_ own: CallOptions) -> CallOptions {
    own.filled(by: members, ownership: ownership, tag: tag)
  }

  /// Returns the options of an inner group, which is a group that is a member of this group. If the inner group does
  /// not set the owner, the tag or an option of its members, this option is taken from these group options. If the
  /// inner group sets its owner or its tag, its members have this one, even if `members` of these options sets another.
  func forGroup(_ own: GroupOptions) -> GroupOptions {
    var options = own
    options.ownership = own.ownership ?? ownership
    options.tag = own.tag ?? tag
    var outer = members
    if own.ownership != nil { outer.owner = nil }
    if own.tag != nil { outer.tag = nil }
    options.members = own.members.filled(by: outer, ownership: nil, tag: nil)
    return options
  }
}
