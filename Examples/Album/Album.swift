import Errand
import ErrandTesting
import Foundation

/// Runs the album against its own servers and prints each step.
@main struct Album {
  @MainActor static func main() async {
    do {
      try await AlbumStory().tell()
    } catch {
      print("The album failed: \(error)")
      exit(1)
    }
  }
}
