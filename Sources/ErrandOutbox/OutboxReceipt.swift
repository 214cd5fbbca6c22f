/// The receipt of a request that was added to an ``Outbox``. The receipt keeps the outbox. The request is stored and
/// will be sent, also if the receipt is released.
public struct OutboxReceipt<Request: OutboxRequest>: Sendable, Identifiable {
  /// The number of the entry.
  public let id: OutboxEntry.ID
  let watch: EntryWatch
  /// Keeps the outbox open as long as the receipt exists.
  let outbox: Outbox

  /// The present state of the entry.
  public var state: OutboxState { watch.present }

  /// The present state and all later ones, up to the first final one. The sequence also ends if the outbox is closed,
  /// or if another process has removed the entry long after its end (``OutboxConfiguration/history``). It keeps the
  /// outbox, also if the receipt is released.
  public var states: AsyncStream<OutboxState> { watch.states(of: outbox) }

  /// Waits for the final state of the entry, and returns it with the value of the response.
  ///
  /// If the task is cancelled or the outbox is closed, returns the present state. If another process has sent and
  /// removed the entry before this process noticed its end, returns the last state that this process knows, such as
  /// ``OutboxState/queued``.
  public var outcome: OutboxOutcome<Request.Response> {
    get async {
      for await state in states where state.isFinal { break }
      let details = watch.details
      return OutboxOutcome(
        state: details.state, value: details.value as? Request.Response, reason: details.reason)
    }
  }

  /// Refers to the object that the request creates, for other requests that are added before it is delivered.
  public var reference: OutboxReference { OutboxReference(createdBy: id) }
}
