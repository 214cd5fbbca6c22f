import ErrandSupport
import Dispatch
import Foundation
import ErrandCore

/// The shared state of a ``LoopbackServer``'s threads. The threads keep a reference to this object, but no reference to
/// the server. So the server can be deallocated while the threads run, and its deallocation stops them.
final class LoopbackCore: Sendable {
  /// An enqueued response to a request, and the time at which the server reads the body of this request.
  struct Scripted: Sendable {
    let answer: LoopbackAnswer
    let reception: LoopbackReception
  }

  let options: LoopbackOptions
  let handler: @Sendable (RecordedRequest) -> LoopbackAnswer
  let observed = Observed(LoopbackRecord())
  private let script = Locked<[Scripted]>([])
  private let stop = Gate()
  private let threads = DispatchGroup()

  init(options: LoopbackOptions, handler: @escaping @Sendable (RecordedRequest) -> LoopbackAnswer) {
    self.options = options
    self.handler = handler
  }

  // MARK: Threads

  /// Starts the thread that accepts connections. At its end, the thread closes the listening socket.
  func start(_ listener: LoopbackListener) throws {
    let stopDescriptor = try stop.wakeDescriptor()
    spawn { core in
      core.acceptAll(listener, stopDescriptor)
      listener.close()
    }
  }

  /// Ends all threads and waits up to ten seconds for their end. If one of these threads calls this function, the
  /// function does not wait, because the thread would wait for its own end.
  func end() {
    stop.open()
    guard Thread.current.threadDictionary[Self.threadKey] as? ObjectIdentifier != ObjectIdentifier(self) else {
      // The current thread is a thread of the server, so it cannot wait for its own end. The call of `close` makes the
      // waits of tests fail. It happens after the last thread has ended, because until then a thread can still cause
      // the event that a test waits for.
      return threads.notify(queue: .global()) { self.observed.close() }
    }
    if threads.wait(timeout: .now() + .seconds(10)) == .success { stop.retire() }
    observed.close()
  }

  private func acceptAll(_ listener: LoopbackListener, _ stopDescriptor: Int32) {
    while !stop.isOpen {
      guard passAcceptGate(stopDescriptor) else { return }
      let ready = SystemPoll.wait(for: [
        (listener.descriptor, SystemPoll.readable), (stopDescriptor, SystemPoll.readable),
      ])
      if ready[1] != 0 { return }
      guard ready[0] != 0 else { continue }
      if let accepted = listener.acceptOne() {
        serve(accepted)
      } else {
        // No connection was accepted: the process has no free file descriptor, or the client has already closed the
        // connection. Wait before the next attempt, so that this loop does not keep a processor busy.
        _ = SystemPoll.wait(for: [(stopDescriptor, SystemPoll.readable)], timeout: .milliseconds(5))
      }
    }
  }

  /// Waits at ``LoopbackOptions/acceptGate``, if this option is set, before a connection is accepted. Returns false if
  /// the server stopped during the wait, or if the process has no free file descriptor for the wait.
  private func passAcceptGate(_ stopDescriptor: Int32) -> Bool {
    guard let gate = options.acceptGate else { return true }
    gate.arrive()
    while !gate.takePass() {
      guard let wake = try? gate.wakeDescriptor() else { return false }
      let ready = SystemPoll.wait(for: [(wake, SystemPoll.readable), (stopDescriptor, SystemPoll.readable)])
      if ready[1] != 0 { return false }
    }
    return true
  }

  private func serve(_ descriptor: Int32) {
    let number = observed.update { record in
      record.connectionCount += 1
      record.openConnectionCount += 1
      return record.connectionCount
    }
    spawn { core in
      let socket = LoopbackSocket(descriptor, stop: core.stop, sendBuffer: core.options.sendBuffer) { count in
        core.observed.update { $0.sentCount += count }
      }
      var connection = LoopbackConnection(socket, number: number, core: core)
      connection.serve()
      core.observed.update { $0.openConnectionCount -= 1 }
    }
  }

  /// Starts a thread with a small stack, so that hundreds of threads cost little memory.
  private func spawn(_ work: @escaping @Sendable (LoopbackCore) -> Void) {
    threads.enter()
    let thread = Thread { [self] in
      Thread.current.threadDictionary[Self.threadKey] = ObjectIdentifier(self)
      work(self)
      threads.leave()
    }
    thread.name = "loopback"
    thread.stackSize = 512 << 10
    thread.start()
  }

  private static let threadKey = "errand.loopback"

  // MARK: Script and record

  func enqueue(_ entries: [Scripted]) {
    script.withLock { $0 += entries }
  }

  func nextScripted() -> Scripted? {
    script.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }

  /// Enqueues a response as the next one, because its request has not arrived completely and gets no response.
  func putBack(_ entry: Scripted) {
    script.withLock { $0.insert(entry, at: 0) }
  }

  func record(_ request: RecordedRequest) -> Int {
    observed.update { record in
      var request = request
      request.number = record.requests.count + 1
      record.requests.append(request)
      return request.number
    }
  }

  /// Replaces a recorded request by a copy that includes the body.
  func complete(_ request: RecordedRequest) {
    observed.update { record in
      if record.requests.indices.contains(request.number - 1) { record.requests[request.number - 1] = request }
    }
  }

  func abandon(_ request: RecordedRequest) {
    observed.update { $0.abandoned.append(request) }
  }

  func refuse(_ reason: String) {
    observed.update { $0.refusals.append(reason) }
  }
}
