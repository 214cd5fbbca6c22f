import ErrandSupport
import Foundation

/// The state of an entry for the receipts that observe it.
final class EntryWatch: Sendable {
  private struct State: Sendable {
    var state: OutboxState
    var reason: OutboxReason?
    var value: (any Sendable)?
    var observers: [UUID: AsyncStream<OutboxState>.Continuation] = [:]
    /// Whether no other state follows, because the outbox was closed.
    var isEnded = false
  }

  private let state: Locked<State>

  init(_ facts: EntryFacts) { state = Locked(State(state: facts.state, reason: facts.reason)) }

  /// Ends all sequences of states, also later ones.
  func end() {
    let observers = state.withLock { state in
      defer { (state.observers, state.isEnded) = ([:], true) }
      return Array(state.observers.values)
    }
    for observer in observers { observer.finish() }
  }

  var present: OutboxState { state.withLock { $0.state } }

  var details: (state: OutboxState, reason: OutboxReason?, value: (any Sendable)?) {
    state.withLock { ($0.state, $0.reason, $0.value) }
  }

  /// Stores a state and passes it to the observers, if it has changed.
  func update(_ facts: EntryFacts, _ value: (any Sendable)?) {
    let observers = state.withLock { state -> [AsyncStream<OutboxState>.Continuation] in
      let isChanged = state.state != facts.state
      (state.state, state.reason, state.value) = (facts.state, facts.reason, value ?? state.value)
      guard isChanged else { return [] }
      defer { if facts.state.isFinal { state.observers = [:] } }
      return Array(state.observers.values)
    }
    for observer in observers {
      observer.yield(facts.state)
      if facts.state.isFinal { observer.finish() }
    }
  }

  /// The present state and all later ones, up to the first final one. The sequence keeps this object and the outbox,
  /// because the app may release the receipt before it reads the sequence.
  func states(of outbox: Outbox) -> AsyncStream<OutboxState> {
    AsyncStream { continuation in
      let id = UUID()
      continuation.onTermination = { _ in
        withExtendedLifetime(outbox) { self.state.withLock { _ = $0.observers.removeValue(forKey: id) } }
      }
      let isOver = state.withLock { state in
        let isOver = state.isEnded || state.state.isFinal
        if !isOver { state.observers[id] = continuation }
        // Under the lock, so that no later state is yielded before this one. The call runs no code of the app.
        continuation.yield(state.state)
        return isOver
      }
      if isOver { continuation.finish() }
    }
  }
}

/// The watches of all entries that receipts observe, and the observers of the whole outbox.
final class OutboxWatches: Sendable {
  private struct Place: Sendable {
    weak let watch: EntryWatch?
  }

  private struct State: Sendable {
    var places: [Int64: Place] = [:]
    /// The number of places after the last removal of unused ones.
    var used = 0
    var changes: [UUID: AsyncStream<OutboxEntry>.Continuation] = [:]
    var summaries: [UUID: AsyncStream<OutboxSummary>.Continuation] = [:]
    var touches: [UUID: AsyncStream<Void>.Continuation] = [:]
    /// Whether nothing is published any more, because the outbox was closed.
    var isEnded = false
  }

  private let state = Locked(State())

  /// The watch of an entry, shared by all its receipts.
  func watch(_ facts: EntryFacts) -> EntryWatch {
    let made = EntryWatch(facts)
    return state.withLock { state in
      if let found = state.places[facts.id]?.watch { return found }
      state.places[facts.id] = Place(watch: made)
      if state.places.count > 2 * state.used + 64 {
        state.places = state.places.filter { $0.value.watch != nil }
        state.used = state.places.count
      }
      return made
    }
  }

  /// The entries that receipts observe.
  var watched: [Int64] { state.withLock { $0.places.filter { $0.value.watch != nil }.map(\.key) } }

  var hasSummaries: Bool { state.withLock { !$0.summaries.isEmpty } }

  func publish(_ facts: EntryFacts, _ value: (any Sendable)? = nil) {
    let (watch, observers) = state.withLock { ($0.places[facts.id]?.watch, Array($0.changes.values)) }
    watch?.update(facts, value)
    touch()
    guard !observers.isEmpty else { return }
    let entry = OutboxEntry(facts)
    for observer in observers { observer.yield(entry) }
  }

  /// Passes the state of an entry that another process may have changed to all observers, if it has changed.
  func refresh(_ facts: EntryFacts) {
    guard let watch = state.withLock({ $0.places[facts.id]?.watch }), watch.present != facts.state else { return }
    publish(facts)
  }

  /// Ends the sequences of an entry that was removed. Its last known state stays.
  func end(_ id: Int64) { state.withLock { $0.places.removeValue(forKey: id)?.watch }?.end() }

  func publish(_ summary: OutboxSummary) {
    for observer in state.withLock({ Array($0.summaries.values) }) { observer.yield(summary) }
  }

  /// Tells the observers that any entry may have changed.
  func touch() {
    for observer in state.withLock({ Array($0.touches.values) }) { observer.yield() }
  }

  func changes() -> AsyncStream<OutboxEntry> { observers(\.changes, .unbounded) }

  func summaries() -> AsyncStream<OutboxSummary> { observers(\.summaries, .bufferingNewest(1)) }

  /// One element after each change of any entry; several changes may be one element.
  func touches() -> AsyncStream<Void> { observers(\.touches, .bufferingNewest(1)) }

  private func observers<Element: Sendable>(
    _ place: any WritableKeyPath<State, [UUID: AsyncStream<Element>.Continuation]> & Sendable,
    _ buffer: AsyncStream<Element>.Continuation.BufferingPolicy
  ) -> AsyncStream<Element> {
    AsyncStream(bufferingPolicy: buffer) { continuation in
      let id = UUID()
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0[keyPath: place].removeValue(forKey: id) }
      }
      let isEnded = state.withLock { state in
        if !state.isEnded { state[keyPath: place][id] = continuation }
        return state.isEnded
      }
      if isEnded { continuation.finish() }
    }
  }

  deinit { end() }

  /// Ends all sequences, also later ones.
  func end() {
    let ended = state.withLock { state in
      defer { state = State(isEnded: true) }
      return state
    }
    for place in ended.places.values { place.watch?.end() }
    for observer in ended.changes.values { observer.finish() }
    for observer in ended.summaries.values { observer.finish() }
    for observer in ended.touches.values { observer.finish() }
  }
}
