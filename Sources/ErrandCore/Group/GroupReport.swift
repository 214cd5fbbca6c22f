import Foundation

/// A report on the members of a batch or a chain. The report can be printed during and after the run.
///
/// ```
/// chain #12: 4 calls in 31.2 ms
///   1  Register     0.0 ms     8.1 ms  network
///   2  GetUser      8.2 ms     5.0 ms  cache (fresh)
///   3  Avatar       8.2 ms    12.9 ms  network, joined
///   4  Welcome     21.2 ms    10.0 ms  network
/// ```
///
/// The columns are:
///
/// 1. the position in the order in which the members started
/// 2. the name of the member
/// 3. the time from the start of the group to the start of the member
/// 4. the duration of the member
/// 5. the source of its response, or the reason of its failure
///
/// If a member is a group, its members are printed below it, indented.
public struct GroupReport: Sendable, CustomStringConvertible {
  /// The state of a member, which is a call or an inner group.
  public enum State: Sendable {
    /// The member has not ended.
    case running
    /// The member is a call that has received its response. `isJoined` is true if the response comes from an exchange
    /// that another call started.
    case answered(ResponseOrigin, isJoined: Bool)
    /// The member is a group that has ended with a value.
    case done
    /// The member failed or was cancelled.
    case failed(APIError)
  }

  /// One member of the group in the report. The member is a call, or an inner group with its own members.
  public struct Entry: Sendable {
    let title: MemberName
    /// The time from the start of the group to the start of the member.
    public let start: Duration
    /// The duration of the member; nil while the member runs.
    public internal(set) var duration: Duration?
    /// The current state of the member, or its final state.
    public internal(set) var state = State.running
    /// The report on the member if it is a group; empty for a call. The property is an array instead of an optional,
    /// because an empty array keeps the entries small, and most entries are calls.
    var inner: [GroupReport] = []

    init(title: MemberName, start: Duration) {
      self.title = title
      self.start = start
    }

    /// The name of the member: the name of the request's type, or the name of the group.
    public var name: String { "\(title)" }
    /// If the member is a group, the report on the members of that group so far; nil if the member is a call.
    public var report: GroupReport? { inner.first }
  }

  /// The identity of the group.
  public let group: GroupInfo
  /// The time from the start of the group to its end. While the group runs, this is the time from its start to the
  /// moment at which the report was made.
  public let duration: Duration
  /// The members of the group, in the order in which they started.
  public let entries: [Entry]

  /// The number of calls, including the calls of inner groups.
  public var calls: Int { entries.reduce(0) { $0 + ($1.report?.calls ?? 1) } }

  /// True if the group sent at least one call and all responses are from the cache.
  public var isFromCache: Bool { calls > 0 && holdsHitsAlone }

  private var holdsHitsAlone: Bool {
    entries.allSatisfy { entry in
      if let report = entry.report { return report.holdsHitsAlone }
      if case .answered(let origin, _) = entry.state { return origin.isFromCache }
      return false
    }
  }

  /// The report as lines of text. The text contains no secrets.
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
  /// The state in a few words, such as `network` or `failed: status`.
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
    case .local: "local"
    }
  }
}

/// The outcome of one run of a batch or a chain: the value or the error, and the report on its members.
///
/// Accessories and the hooks of ``GroupOptions`` receive a `GroupOutcome<Void>`, which has no value.
public struct GroupOutcome<Value: Sendable>: Sendable {
  /// The value or the error of the group. ``APIError/members`` names the failed member.
  public let result: Result<Value, APIError>
  /// The report on the members: their order, durations and sources.
  public let report: GroupReport

  /// True if the group sent at least one call and all responses are from the cache.
  public var isFromCache: Bool { report.isFromCache }
  /// The value; nil for a failure.
  public var value: Value? { try? result.get() }
  /// The error; nil for success.
  public var error: APIError? { result.error }
}

extension GroupOutcome where Value == Void {
  init(error: APIError?, report: GroupReport) {
    self.init(result: error.map { .failure($0) } ?? .success(()), report: report)
  }

  /// Returns an outcome whose result is the error of this outcome, or the given result if this outcome has no error.
  func outcome<Other>(_ result: Result<Other, APIError>) -> GroupOutcome<Other> {
    GroupOutcome<Other>(result: error.map { .failure($0) } ?? result, report: report)
  }
}
