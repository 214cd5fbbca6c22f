import Errand
import ErrandRecord
import ErrandSupport

struct CallComparison {
  /// A property in which two calls differ.
  struct Difference: Equatable {
    /// The name of the property.
    let what: String
    /// The value in the first call; nil if the property is missing there.
    let a: String?
    /// The value in the second call; nil if the property is missing there.
    let b: String?
  }

  struct Pairs {
    struct Pair {
      let a: ArchivedCall
      let b: ArchivedCall
      let differences: [Difference]
    }

    /// The number of pairs that do not differ.
    var equal = 0
    var changed: [Pair] = []
    /// The calls of the first record that the second does not contain.
    var onlyA: [ArchivedCall] = []
    /// The calls of the second record that the first does not contain.
    var onlyB: [ArchivedCall] = []
  }

  /// Compares two calls that a person chose: decisions with their numbers, all header fields, and each time.
  static let ofTwoCalls = CallComparison(isExact: true)
  /// Compares two runs of a program: decisions by their kinds, header fields that do not change with each response, and
  /// times that differ by a factor of two and by 100 ms.
  static let ofTwoFiles = CallComparison(isExact: false)

  private let isExact: Bool
  /// The largest number of decisions of a call of which the longest common sequence is sought, which takes time and
  /// memory in proportion to the square of this number. More decisions are compared in their order.
  static let mostAligned = 1_000
  private static let volatile: Set<HTTPFieldName> = ["Date", "Age", "Content-Length"]

  func differences(_ a: ArchivedCall, _ b: ArchivedCall) -> [Difference] {
    var differences: [Difference] = []
    func compare(_ what: String, _ a: String?, _ b: String?) {
      if let a, let b, a.hasSameBytes(as: b) { return }
      if a != nil || b != nil { differences.append(Difference(what: what, a: a, b: b)) }
    }
    if isExact { compare("request", "\(a.method) \(a.url)", "\(b.method) \(b.url)") }
    compare("status", a.status.map { "\($0)" }, b.status.map { "\($0)" })
    compare("outcome", a.failure ?? a.origin, b.failure ?? b.origin)
    compare("requests sent", "\(a.attempts)", "\(b.attempts)")
    let (sent, otherSent) = (a.entries.last?.request.headers ?? [], b.entries.last?.request.headers ?? [])
    for (name, one, two) in fields(sent, otherSent) { compare("request field \(name)", one, two) }
    let (received, other) = (a.entries.last?.response.headers ?? [], b.entries.last?.response.headers ?? [])
    for (name, one, two) in fields(received, other) { compare("response field \(name)", one, two) }
    differences += decisions(a, b)
    if isApart(a.duration, b.duration) { compare("time", Wording.duration(a.duration), Wording.duration(b.duration)) }
    return differences
  }

  /// The fields of two messages in the order of the first message, with their values; nil if a field is missing.
  private func fields(_ a: [HTTPField], _ b: [HTTPField]) -> [(HTTPFieldName, String?, String?)] {
    let (one, two) = (Dictionary(grouping: a, by: \.name), Dictionary(grouping: b, by: \.name))
    var seen: Set<HTTPFieldName> = isExact ? [] : Self.volatile
    let names = (a + b).map(\.name).filter { seen.insert($0).inserted }
    func value(_ fields: [HTTPField]?) -> String? { fields?.map(\.value).joined(separator: ", ") }
    return names.map { ($0, value(one[$0]), value(two[$0])) }
  }

  private func decisions(_ a: ArchivedCall, _ b: ArchivedCall) -> [Difference] {
    func key(_ decision: HTTPArchive.Decision) -> String { isExact ? decision.text : decision.kind ?? decision.text }
    let (one, two) = (a.decisions.map(key), b.decisions.map(key))
    if max(one.count, two.count) > Self.mostAligned {
      return (0..<max(one.count, two.count)).compactMap { place in
        let (a, b) = (place < one.count ? one[place] : nil, place < two.count ? two[place] : nil)
        return a == b ? nil : Difference(what: "decision", a: a, b: b)
      }
    }
    // A decision that only one call has and one of the same kind that only the other has are one difference.
    let changes = two.difference(from: one)
    var added = changes.insertions.map(Self.place)
    var rows: [(place: Int, difference: Difference)] = []
    for removed in changes.removals.map(Self.place) {
      let decision = a.decisions[removed]
      let match = added.firstIndex { place in
        decision.kind != nil && b.decisions[place].kind == decision.kind && two[place] != one[removed]
      }
      let other = match.map { b.decisions[added.remove(at: $0)].text }
      rows.append((place: removed, difference: Difference(what: "decision", a: decision.text, b: other)))
    }
    for place in added {
      rows.append((place: place, difference: Difference(what: "decision", a: nil, b: b.decisions[place].text)))
    }
    return rows.sorted { $0.place < $1.place }.map(\.difference)
  }

  private static func place(_ change: CollectionDifference<String>.Change) -> Int {
    switch change {
    case .remove(let offset, _, _), .insert(let offset, _, _): offset
    }
  }

  private func isApart(_ a: Duration, _ b: Duration) -> Bool {
    let (short, long) = (min(a, b), max(a, b))
    return isExact || long >= short + short && long - short >= .milliseconds(100)
  }

  /// Pairs the calls of two records: the first call with a method, a URL without its query, and a request type with the
  /// first such call of the other record, and so on.
  func pairs(_ a: [ArchivedCall], _ b: [ArchivedCall]) -> Pairs {
    var waiting = Dictionary(grouping: b.enumerated().map { ($0, $1) }) { Self.key($0.1) }.mapValues { $0[...] }
    var pairs = Pairs()
    for call in a {
      guard let (_, other) = waiting[Self.key(call)]?.popFirst() else {
        pairs.onlyA.append(call)
        continue
      }
      let differences = differences(call, other)
      if differences.isEmpty {
        pairs.equal += 1
      } else {
        pairs.changed.append(Pairs.Pair(a: call, b: other, differences: differences))
      }
    }
    pairs.onlyB = waiting.values.flatMap { $0 }.sorted { $0.0 < $1.0 }.map(\.1)
    return pairs
  }

  private static func key(_ call: ArchivedCall) -> [String] {
    [call.method, call.url.cut(at: "?").map { String($0.before) } ?? call.url, call.requestType]
  }
}
