import Foundation

/// A process in which every file call of a scenario fails in turn. `FaultProbe cache URL FOLDER CODE` needs a server
/// whose pages a POST changes; `FaultProbe upload URL FILE CODE` needs a server that responds "taken" to the complete
/// file.
///
/// Prints the number of calls in the scenario. Exits with 1 and prints the reason if a failing call causes more harm
/// than it must.
@main
enum FaultProbe {
  static func main() async {
    // Ends a scenario that hangs.
    alarm(540)
    let words = CommandLine.arguments
    guard words.count == 5, let code = Int32(words[4]) else { exit(64) }
    let place = URL(filePath: words[3]).resolvingSymlinksInPath()
    // The first run has no fault, because a failing call can skip the calls after it.
    let calls = await play(0, words, place, code)
    for turn in 1...max(calls, 1) { _ = await play(turn, words, place, code) }
    print(calls)
  }

  /// Plays the scenario while one call fails. Returns the number of calls.
  private static func play(_ turn: Int, _ words: [String], _ place: URL, _ code: Int32) async -> Int {
    let (calls, problems) =
      words[1] == "cache"
      ? await CacheStory(url: words[2], folder: place).play(turn, code)
      : await UploadStory(url: words[2], file: place).play(turn, code)
    guard problems.isEmpty else {
      print("call \(turn): \(problems.joined(separator: "; "))")
      exit(1)
    }
    return calls
  }
}
