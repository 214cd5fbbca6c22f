import ErrandCore
import Foundation

/// The loop of the live page. It runs on one thread, which waits only in `poll`.
struct LiveServer {
  private let listener: LiveListener
  private let inbox: LiveInbox
  private let gate: LiveGate
  private let limits: LiveLimits
  private let record: () -> [FlightCall]
  private var connections: [LiveConnection] = []

  init(
    _ listener: LiveListener, _ inbox: LiveInbox, _ gate: LiveGate, _ limits: LiveLimits,
    record: @escaping () -> [FlightCall]
  ) {
    (self.listener, self.inbox, self.gate, self.limits, self.record) = (listener, inbox, gate, limits, record)
  }

  /// Serves until the inbox is stopped.
  mutating func run() {
    while true {
      let ready = waitForEvents()
      let now = ContinuousClock.now
      let news = inbox.take()
      if news.isStopped { return close(now) }
      serve(Array(ready.dropFirst(2)), news, now)
      if ready[1] != 0 { accept(now) }
    }
  }

  private mutating func accept(_ now: ContinuousClock.Instant) {
    if let descriptor = listener.accepted() {
      connections.append(LiveConnection(descriptor, limits, now: now))
    } else {
      // The process has no free descriptor, or the peer has left. Wait, so that the loop does not keep a processor busy.
      _ = LiveSocket.wait([(inbox.descriptor, LiveSocket.readable)], milliseconds: 5)
    }
  }

  /// Waits until a connection, the port or the inbox has an event, or the next deadline.
  private func waitForEvents() -> [Int16] {
    let accepts = connections.count < limits.connections ? LiveSocket.readable : 0
    let watched = [(inbox.descriptor, LiveSocket.readable), (listener.descriptor, accepts)]
    let next = connections.compactMap(\.deadline).min()
    return LiveSocket.wait(
      watched + connections.map { ($0.descriptor, $0.events) }, milliseconds: next.map(Self.milliseconds) ?? -1)
  }

  /// The time until a deadline, rounded up.
  private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
    let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
    return Int32(min(max(left.rounded(.up), 0), 60_000))
  }

  private mutating func serve(_ ready: [Int16], _ news: LiveInbox.Content, _ now: ContinuousClock.Instant) {
    for place in connections.indices {
      if ready[place] & ~LiveSocket.writable != 0 {
        connections[place].read(now: now) { head in
          let decision = gate.decision(head)
          return (decision, decision == .events ? record() : [])
        }
      }
      connections[place].add(news.calls, isOverfull: news.isOverfull, now: now)
      connections[place].write(now: now)
      connections[place].expire(now: now)
      if connections[place].phase == .closed { LiveSocket.end(connections[place].descriptor) }
    }
    connections.removeAll { $0.phase == .closed }
  }

  private mutating func close(_ now: ContinuousClock.Instant) {
    for place in connections.indices {
      connections[place].end("end", now)
      LiveSocket.end(connections[place].descriptor)
    }
    connections = []
    listener.end()
  }
}
