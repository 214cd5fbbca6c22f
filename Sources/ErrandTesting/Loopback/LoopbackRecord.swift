/// What a ``LoopbackServer`` has seen so far: a value, as of one moment.
public struct LoopbackRecord: Sendable {
  /// The requests in the order in which their answers began.
  public internal(set) var requests: [RecordedRequest] = []
  /// Requests whose client left before their body was whole; they have no number and got no answer.
  public internal(set) var abandoned: [RecordedRequest] = []
  /// Why input was refused with 400 as no HTTP/1.x request, in order; also when the system had no descriptor left
  /// for a gate and the connection was closed for that.
  public internal(set) var refusals: [String] = []
  /// How many connections were accepted.
  public internal(set) var connectionCount = 0
  /// How many of them are open now.
  public internal(set) var openConnectionCount = 0
  /// How many bytes were handed to the system, for all clients. What a client has not taken is among them as long as
  /// the system has room for it.
  public internal(set) var sentCount = 0
}
