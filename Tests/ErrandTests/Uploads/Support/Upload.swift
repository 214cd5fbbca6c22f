import Errand
import ErrandCore
import ErrandTesting
import Foundation

/// A request that sends a body.
struct Upload: APIRequest {
  var path: Path = "/up"
  var method = HTTPMethod.put
  var body: RequestBody?
  var redirects: RedirectPolicy = .inherited
  var cache = CachePolicy.none
  var joining = JoinRule.inherited
  var timeouts: Timeouts = .inherited
  var statusRule: StatusRule = .inherited
  var overlap: Overlap { Overlap(joining: joining) }
  var validation: ResponseValidation { ResponseValidation(status: statusRule) }
  typealias Response = String

  init(_ body: RequestBody?, _ change: (inout Upload) -> Void = { _ in }) {
    self.body = body
    change(&self)
  }
}

extension LoopbackOptions {
  /// Counts the bytes of bodies, keeps only a few of them, and receives them in a given way.
  static func uploads(
    keeping limit: Int = 1 << 20, _ reception: LoopbackReception = .automatic
  ) -> LoopbackOptions {
    var options = LoopbackOptions()
    options.recordedBodyLimit = limit
    options.reception = { _ in reception }
    return options
  }
}
