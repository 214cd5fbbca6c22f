/// How many exchanges of a client may run at once. The rest wait in order of priority, then of arrival.
public struct AdmissionLimits: Sendable, Hashable {
  /// To one origin. 64 where nothing is said; less than one counts as one.
  public var perHost: Int { didSet { perHost = max(perHost, 1) } }
  /// In all. 256 where nothing is said; less than one counts as one.
  public var total: Int { didSet { total = max(total, 1) } }

  /// Makes limits; less than one counts as one.
  public init(perHost: Int = 64, total: Int = 256) {
    self.perHost = max(perHost, 1)
    self.total = max(total, 1)
  }
}
