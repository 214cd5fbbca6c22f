import Foundation

/// What ran in a batch or a chain: a plan that can be printed, while it runs and after.
///
/// ```
/// chain #12: 4 calls in 31.2 ms
///   1  Register     0.0 ms     8.1 ms  network
///   2  GetUser      8.2 ms     5.0 ms  cache (fresh)
///   3  Avatar       8.2 ms    12.9 ms  network, joined
///   4  Welcome     21.2 ms    10.0 ms  network
/// ```
///
/// The columns: the order of starting, the name, when it began after the start of the group, how long it took, and
/// where its answer came from or why it failed. The members of a member stand below it, indented.
public struct GroupReport: Sendable, CustomStringConvertible {
  /// How a member stands or ended.
  public enum State: Sendable {
    /// It has not ended.
    case running
    /// A call with its answer.
    case answered(ResponseOrigin, isJoined: Bool)
    /// A group that has its value.
    case done
    /// It failed or was cancelled.
    case failed(APIError)
  }

  /// One member: a call, or a group with members of its own.
  public struct Entry: Sendable {
    let title: MemberName
    /// When it began, counted from the start of the group.
    public let start: Duration
    /// How long it took; nil while it runs.
    public internal(set) var duration: Duration?
    /// How it stands or ended.
    public internal(set) var state = State.running
    /// An array, since calls have none: so an entry stays small.
    var inner: [GroupReport] = []

    init(title: MemberName, start: Duration) {
      self.title = title
      self.start = start
    }

    /// The name: that of the request's type, or the group's.
    public var name: String { "\(title)" }
    /// What ran in it so far; nil for a call.
    public var report: GroupReport? { inner.first }
  }

  /// Who the group is.
  public let group: GroupInfo
  /// From the start of the group until it ended, or until now.
  public let duration: Duration
  /// Its members, in the order in which they were started.
  public let entries: [Entry]

  /// The number of calls, those of inner groups included.
  public var calls: Int { entries.reduce(0) { $0 + ($1.report?.calls ?? 1) } }

  /// Whether there were calls and the answers of all of them came from the cache.
  public var isFromCache: Bool { calls > 0 && holdsHitsAlone }

  private var holdsHitsAlone: Bool {
    entries.allSatisfy { entry in
      if let report = entry.report { return report.holdsHitsAlone }
      if case .answered(let origin, _) = entry.state { return origin.isFromCache }
      return false
    }
  }

  /// The plan as lines of text; it holds no secrets.
  public var description: String {
    let head = "\(group): \(calls) \(calls == 1 ? "call" : "calls") in \(Self.text(duration))"
    return ([head] + lines(indent: "  ")).joined(separator: "\n")
  }

  private func lines(indent: String) -> [String] {
    let width = entries.map(\.name.count).max() ?? 0
    let digits = String(entries.count).count
    return entries.enumerated().flatMap { index, entry -> [String] in
      let number = Self.padded("\(index + 1)", to: digits, leading: true)
      let times = [Self.text(entry.start), entry.duration.map(Self.text) ?? "…"]
        .map { Self.padded($0, to: 10, leading: true) }.joined()
      let line = "\(indent)\(number)  \(Self.padded(entry.name, to: width))\(times)  \(entry.state)"
      return [line] + (entry.report?.lines(indent: indent + "     ") ?? [])
    }
  }

  private static func text(_ duration: Duration) -> String {
    String(format: "%.1f ms", duration / .milliseconds(1))
  }

  private static func padded(_ text: String, to width: Int, leading: Bool = false) -> String {
    let filling = String(repeating: " ", count: max(0, width - text.count))
    return leading ? filling + text : text + filling
  }
}

extension GroupReport.State: CustomStringConvertible {
  /// A few words, such as `network` or `failed: status`.
  public var description: String {
    switch self {
    case .running: "running"
    case .answered(let origin, let isJoined): origin.words + (isJoined ? ", joined" : "")
    case .done: "done"
    case .failed(let error) where error.isCancelled: "cancelled"
    case .failed(let error): "failed: \(error.code)" + (error.status.map { " \($0)" } ?? "")
    }
  }
}

extension ResponseOrigin {
  fileprivate var words: String {
    switch self {
    case .network: "network"
    case .cacheFresh: "cache (fresh)"
    case .cacheStale: "cache (stale)"
    case .revalidated: "cache (revalidated)"
    case .local: "made here"
    }
  }
}
