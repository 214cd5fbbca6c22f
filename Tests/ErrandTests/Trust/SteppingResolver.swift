import Errand
import ErrandSupport

/// Gives one answer after the other, the last one again and again, and notes what it was asked.
final class SteppingResolver: NameResolver {
  private let answers: Locked<[[String]]>
  private let questions = Locked<[String]>([])

  init(_ answers: [String]...) { self.answers = Locked(answers) }

  /// What it was asked, `host:port` each.
  var asked: [String] { questions.withLock { $0 } }

  func addresses(of host: String, port: Int) async throws -> [String] {
    questions.withLock { $0.append("\(host):\(port)") }
    return answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? [] }
  }
}
