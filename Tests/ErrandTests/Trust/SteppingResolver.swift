import Errand
import ErrandHTTP
import ErrandSupport

/// Returns one list of addresses after the other, repeats the last one, and records the questions.
final class SteppingResolver: NameResolver {
  private let answers: Locked<[[String]]>
  private let questions = Locked<[String]>([])

  init(_ answers: [String]...) { self.answers = Locked(answers) }

  /// The requested names, as `host:port`.
  var asked: [String] { questions.withLock { $0 } }

  func addresses(of host: String, port: Int) async throws -> [String] {
    questions.withLock { $0.append("\(host):\(port)") }
    return answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? [] }
  }
}
