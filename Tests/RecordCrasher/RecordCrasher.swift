import Errand
import ErrandRecord
import ErrandTesting
import Foundation

/// A process that makes calls and records them in a file until it is killed. ErrandRecordTests starts it.
///
/// `RecordCrasher FILE NAME COUNT LIMIT` makes the calls `/NAME/1`, `/NAME/2` and so on, and prints the number of each
/// call after it has ended. It kills itself after COUNT calls; if COUNT is 0, another process kills it.
@main
enum RecordCrasher {
  private struct Call: APIRequest {
    let name: String
    let number: Int
    var path: Path { "/\(name)/\(number)" }
    typealias Response = String
  }

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 5, let count = Int(words[3]), let limit = Int(words[4]) else { exit(64) }
    let server = try LoopbackServer { _ in .ok("done") }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.record = .ring(calls: 10, bodyLimit: 100)
    let client = APIClient(configuration)
    let file = try FlightFile(at: URL(filePath: words[1]), recording: client.flightRecord, limit: limit)
    var number = 0
    while count == 0 || number < count {
      number += 1
      _ = try await client.send(Call(name: words[2], number: number))
      // One system call, so that a kill loses no number that was printed.
      FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    }
    kill(getpid(), SIGKILL)
    withExtendedLifetime(file) {}
  }
}
