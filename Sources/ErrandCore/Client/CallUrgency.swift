/// How urgent a call is, who is told when that changes, and which states go by it.
struct CallUrgency: Sendable {
  var priority: CallPriority
  var tell: (@Sendable (CallPriority) -> Void)?
  var followers: [CallState] = []
}
