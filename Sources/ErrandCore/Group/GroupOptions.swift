/// What is chosen for one run of a batch or a chain.
public struct GroupOptions: Sendable {
  /// When the group ends at the latest, whatever its members may take; never where nothing is said.
  public var deadline: TimeLimit
  /// Who the group belongs to: it is cancelled when the owner is freed. Held weakly. Members belong to it, too, unless
  /// their own options say otherwise.
  public var owner: CallOwner? {
    get { ownership?.owner }
    set { ownership = newValue.map(CallOwner.Reference.init) }
  }
  /// A name to cancel the group by. Members carry it, too, unless their own options say otherwise.
  public var tag: String?
  /// Accessories of the group: each is told once for the group, beside those of the client.
  public var accessories: [any Accessory]
  /// Which loading indicator counts the group.
  public var indicator: IndicatorChoice
  /// What every member is sent with, where its own options say nothing: priority, time-outs, cache, headers,
  /// accessories of the members.
  public var members: CallOptions
  /// Told how far the group has come: in place, one report after the other.
  public var onProgress: (@Sendable (GroupProgress) -> Void)?
  /// Runs off the callback executor, in a task that a cancel reaches, and is awaited before anybody is told.
  public var beforeCompletion: (@Sendable (GroupEnding) async -> Void)?
  /// Runs on the callback executor, before the delegate and the closure.
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

  /// A group that ends at the latest after a time.
  public static func deadline(_ limit: TimeLimit) -> GroupOptions { GroupOptions(deadline: limit) }
  /// A group with a tag.
  public static func tag(_ tag: String) -> GroupOptions { GroupOptions(tag: tag) }
  /// A group with an owner.
  public static func owner(_ owner: CallOwner) -> GroupOptions { GroupOptions(owner: owner) }

  /// The options of a member that is sent with `own`.
  func forMember(_ own: CallOptions) -> CallOptions {
    own.filled(by: members, ownership: ownership, tag: tag)
  }

  /// The options of a group that runs in this one.
  func forGroup(_ own: GroupOptions) -> GroupOptions {
    var options = own
    options.ownership = own.ownership ?? ownership
    options.tag = own.tag ?? tag
    options.members = own.members.filled(by: members, ownership: nil, tag: nil)
    return options
  }
}
