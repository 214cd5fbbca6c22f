import Errand

/// The search: its manager has no source; each request is passed to `start` as the user types.
@MainActor
final class SearchScreen: APIManagerDelegate {
  let bell = Bell()
  let search: APIManager<SearchOffers>
  private let console: Console

  init(_ client: APIClient, _ console: Console) {
    self.console = console
    search = APIManager(client)
    search.delegate = self
  }

  func managerFinished(_ manager: any APIManaging) {
    console.say("found: \(search.lastOutcome?.value?.titles.joined(separator: ", ") ?? "")")
    bell.ring()
  }

  func managerFailed(_ manager: any APIManaging) {
    console.say(search.lastError.map { $0.isCancelled ? "cancelled" : "rejected: \($0.message)" } ?? "")
    bell.ring()
  }
}
