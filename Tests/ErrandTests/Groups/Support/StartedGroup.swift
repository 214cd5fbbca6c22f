import Errand

/// A group on its way, whatever door it was started by.
struct StartedGroup {
  var call: GroupCall?
  var task: Task<Void, Never>?
  var delegate: NotingGroupDelegate?

  func cancel() {
    call?.cancel()
    task?.cancel()
  }
}
