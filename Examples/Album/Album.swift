import Errand
import ErrandTesting
import Foundation

/// Runs the album against servers of its own and prints what happens.
@main struct Album {
  @MainActor static func main() async {
    do {
      try await AlbumStory().tell()
    } catch {
      print("The album stopped: \(error)")
      exit(1)
    }
  }
}
