import Errand

/// A running group, independent of the method that started it.
struct StartedGroup {
  var call: GroupCall?
  var task: Task<Void, Never>?
  var delegate: NotingGroupDelegate?

  func cancel() {
    call?.cancel()
    task?.cancel()
  }
}
