import Errand
import ErrandTesting
import Foundation

/// fault-table: prints a table of how Errand, the command curl and URLSession handle the faults of a server.
///
/// Each client requests the fault and then `/next` from the same origin, in one session. A client that has not ended
/// after four seconds counts as hanging.
///
///     fault-table session URL   the result of URLSession for one fault; the program runs this itself
@main struct FaultTable {
  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count == 3, arguments[1] == "session" {
      print(await SessionClient.words(arguments[2]))
      return
    }
    print("| fault | Errand | curl | URLSession |\n|---|---|---|---|")
    for fault in try Fault.all() {
      let row = try await row(fault)
      print("| \(fault.name) | \(row.joined(separator: " | ")) |")
      // Flushes each row, so that progress is visible if the output is a file.
      fflush(nil)
    }
  }

  private static func row(_ fault: Fault) async throws -> [String] {
    var cells: [String] = []
    for client in [ErrandClient.words, CommandClient.curl, CommandClient.session] {
      let stranger = try LoopbackServer { _ in .ok("elsewhere") }
      let server = try LoopbackServer { request in
        request.path.hasPrefix("/next") ? .ok("right") : fault.answer(request, stranger.url)
      }
      var words = try await client(server.url)
      let sent = server.requests.count { !$0.path.hasPrefix("/next") }
      if fault.mayBeAnswered { words = Fault.plain(words) }
      if fault.countsHops { words += ", \(sent) request\(sent == 1 ? "" : "s")" }
      if stranger.requests.contains(where: { $0.headers["X-Api-Key"] != nil }) {
        words += ", **key sent to another origin**"
      }
      cells.append(words)
    }
    return cells
  }
}

/// Describes the result of a fault and of the request after it.
func words(_ status: Int?, _ count: Int, _ error: String?, next: String?) -> String {
  let first = error.map { "error \($0)" } ?? "**accepted as \(status ?? 0)**, \(count) bytes"
  guard let next else { return first }
  return next == "right" ? first : first + "; next **wrong**"
}
