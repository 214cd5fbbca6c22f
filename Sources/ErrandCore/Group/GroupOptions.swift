/// The options of one run of a batch or a chain.
public struct GroupOptions: Sendable {
  /// The time limit for the whole group, in addition to the time limits of its members; none by default.
  public var deadline: TimeLimit
  /// The owner of the group. The group is cancelled when the owner is deallocated. The reference to the owner is weak.
  /// Members have the same owner, unless their own options set another owner.
  public var owner: CallOwner? {
    get { ownership?.owner }
    set { ownership = newValue.map(CallOwner.Reference.init) }
  }
  /// A name by which the group can be cancelled. Members have the same tag, unless their own options set another tag.
  public var tag: String?
  /// Accessories of the group, in addition to those of the client. Each of them is called once for the group.
  public var accessories: [any Accessory]
  /// The loading indicator that counts the group.
  public var indicator: IndicatorChoice
  /// The default options of every member: priority, time-outs, cache, headers, accessories. The own options of a member
  /// override them.
  public var members: CallOptions
  /// Receives the progress of the group, one report after the other. For a group that was started with callbacks it
  /// runs on the callback executor, otherwise on the thread on which the progress occurs.
  public var onProgress: (@Sendable (GroupProgress) -> Void)?
  /// A hook that does not run on the callback executor, but in a task that is cancelled when the group is cancelled.
  /// The group waits for the hook before it calls the delegate and the closure.
  public var beforeCompletion: (@Sendable (GroupEnding) async -> Void)?
  /// A hook that runs on the callback executor, before the delegate and the closure.
  public var afterCompletion: (@Sendable (GroupEnding) -> Void)?

  private(set) var ownership: CallOwner.Reference?

  /// Makes options.
  public init(
    deadline: TimeLimit = .never, owner: CallOwner? = nil, tag: String? = nil, accessories: [any Accessory] = [],
    indicator: IndicatorChoice = .inherited, members: CallOptions = CallOptions(),
    onProgress: (@Sendable (GroupProgress) -> Void)? = nil,
    beforeCompletion: (@Sendable (GroupEnding) async -> Void)? = nil,
    afterCompletion: (@Sendable (GroupEnding) -> Void)? = nil
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

  /// Returns the options of a member: its own options, completed by those of this group.
  func forMember(_ own: CallOptions) -> CallOptions {
    own.filled(by: members, ownership: ownership, tag: tag)
  }

  /// Returns the options of a group that runs inside this group: its own options, completed by those of this group.
  func forGroup(_ own: GroupOptions) -> GroupOptions {
    var options = own
    options.ownership = own.ownership ?? ownership
    options.tag = own.tag ?? tag
    options.members = own.members.filled(by: members, ownership: nil, tag: nil)
    return options
  }
}
