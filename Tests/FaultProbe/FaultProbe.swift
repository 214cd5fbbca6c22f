import Foundation

/// A process in which every file call of a scenario fails in turn: `FaultProbe cache URL FOLDER CODE`, where the server
/// gives pages that a POST changes, or `FaultProbe upload URL FILE CODE`, where it says "taken" to the whole file.
///
/// Says how many calls the scenario makes. Ends with 1, and says why, where a failing call did more harm than it must.
@main
enum FaultProbe {
  static func main() async {
    // Nothing may hang.
    alarm(540)
    let words = CommandLine.arguments
    guard words.count == 5, let code = Int32(words[4]) else { exit(64) }
    let place = URL(filePath: words[3]).resolvingSymlinksInPath()
    // Once without a fault: a call that fails can spare those that would come behind it.
    let calls = await play(0, words, place, code)
    for turn in 1...max(calls, 1) { _ = await play(turn, words, place, code) }
    print(calls)
  }

  /// Plays the scenario while one call fails; returns how many there were.
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
