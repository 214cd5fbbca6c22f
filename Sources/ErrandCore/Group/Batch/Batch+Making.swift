extension Batch {
  /// A batch of different requests, whose value is a tuple of theirs; the first failure cancels the rest.
  ///
  /// - Parameters:
  ///   - step: The requests, or groups and steps of your own.
  ///   - width: How many run at once; nil for all, less than one counts as one.
  public init<each S: GroupStep>(_ step: repeat each S, width: Int? = nil)
  where Response == (repeat (each S).Response) {
    let tuple = BatchTuple(repeat each step)
    self.init(.all, width: width) { tuple.parts }
  }

  /// A batch of requests of one kind, whose value is an array of theirs in the same order; the first failure cancels
  /// the rest.
  ///
  /// - Parameters:
  ///   - steps: The requests, or groups and steps of your own.
  ///   - width: How many run at once; nil for all, less than one counts as one.
  public init<S: Sequence>(_ steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == [S.Element.Response] {
    let steps = Array(steps)
    self.init(.all, width: width) {
      Self.parts(steps) { slots, _ throws(APIError) in try slots.map { slot throws(APIError) in try slot.value() } }
    }
  }

  /// A batch of requests that are known only at run time, whose value is an array of theirs in the same order; the
  /// first failure cancels the rest.
  public init(mixed steps: [any GroupStep], width: Int? = nil) where Response == [any Sendable] {
    self.init(.all, width: width) {
      Self.parts(mixed: steps) { entries, _ throws(APIError) in
        try entries.map { entry throws(APIError) in try entry.value() }
      }
    }
  }

  /// A batch in which every request comes to its own end; its value is how each of them ended, in the same order.
  public init<S: Sequence>(outcomesOf steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == [Result<S.Element.Response, APIError>] {
    let steps = Array(steps)
    self.init(.outcomes, width: width) {
      Self.parts(steps) { slots, _ in slots.map { $0.outcome ?? .failure(.stopped(.cancelled)) } }
    }
  }

  /// A batch of requests that are known only at run time, in which every one comes to its own end; its value is how
  /// each of them ended, in the same order.
  public init(outcomesOfMixed steps: [any GroupStep], width: Int? = nil)
  where Response == [Result<any Sendable, APIError>] {
    self.init(.outcomes, width: width) {
      Self.parts(mixed: steps) { entries, _ in entries.map { $0.outcome() ?? .failure(.stopped(.cancelled)) } }
    }
  }

  /// A batch whose value is the first success; the rest is cancelled. It fails when every request has failed, with the
  /// failure that came first.
  public init<S: Sequence>(firstOf steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == S.Element.Response {
    let steps = Array(steps)
    self.init(.successes(1), width: width) {
      Self.parts(steps) { slots, successes throws(APIError) in
        guard let first = successes.first else { throw APIError.stopped(.cancelled) }
        return try slots[first].value()
      }
    }
  }

  /// A batch of requests that are known only at run time, whose value is the first success; the rest is cancelled. It
  /// fails when every request has failed, with the failure that came first.
  public init(firstOfMixed steps: [any GroupStep], width: Int? = nil) where Response == any Sendable {
    self.init(.successes(1), width: width) {
      Self.parts(mixed: steps) { entries, successes throws(APIError) in
        guard let first = successes.first else { throw APIError.stopped(.cancelled) }
        return try entries[first].value()
      }
    }
  }

  /// A batch that ends with the success of so many requests; the rest is cancelled. Its value holds theirs, in the
  /// order of the requests. It fails as soon as it cannot succeed any more, with the failure that came first.
  public init<S: Sequence>(atLeast count: Int, of steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == [S.Element.Response] {
    let steps = Array(steps)
    self.init(.successes(max(count, 0)), width: width) {
      Self.parts(steps) { slots, successes throws(APIError) in
        try successes.sorted().map { index throws(APIError) in try slots[index].value() }
      }
    }
  }

  /// A batch of requests that are known only at run time, which ends with the success of so many; the rest is cancelled.
  /// Its value holds theirs, in the order of the requests. It fails as soon as it cannot succeed any more, with the
  /// failure that came first.
  public init(atLeast count: Int, ofMixed steps: [any GroupStep], width: Int? = nil)
  where Response == [any Sendable] {
    self.init(.successes(max(count, 0)), width: width) {
      Self.parts(mixed: steps) { entries, successes throws(APIError) in
        try successes.sorted().map { index throws(APIError) in try entries[index].value() }
      }
    }
  }

  private static func parts<S: GroupStep>(
    _ steps: [S], _ response: @escaping @Sendable ([BatchSlot<S.Response>], [Int]) throws(APIError) -> Response
  ) -> Parts {
    let row = BatchRow(steps)
    return Parts(members: row.members) { successes throws(APIError) in try response(row.slots, successes) }
  }

  private static func parts(
    mixed steps: [any GroupStep],
    _ response: @escaping @Sendable ([MixedEntry], [Int]) throws(APIError) -> Response
  ) -> Parts {
    let entries = steps.map { MixedEntry($0) }
    return Parts(members: BatchMembers(entries)) { successes throws(APIError) in try response(entries, successes) }
  }
}

/// The members of a batch of different types.
private struct BatchTuple<each S: GroupStep>: Sendable {
  private let steps: (repeat each S)

  init(_ step: repeat each S) { steps = (repeat each step) }

  var parts: Batch<(repeat (each S).Response)>.Parts {
    let slots = (repeat BatchSlot.fitting(each steps))
    var entries: [MixedEntry] = []
    repeat entries.append(MixedEntry(each steps, each slots))
    return .init(members: BatchMembers(entries)) { _ throws(APIError) in
      (repeat try (each slots).value())
    }
  }
}
