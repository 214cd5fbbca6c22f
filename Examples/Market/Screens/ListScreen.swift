import Errand

/// The list of offers: it loads page by page, and shows a card for each.
@MainActor
final class ListScreen: APIManagerDelegate {
  let bell = Bell()
  private let offers: PageManager<ListOffers>
  private let console: Console

  init(_ client: APIClient, _ console: Console) {
    self.console = console
    offers = PageManager(client, first: ListOffers())
    offers.delegate = self
  }

  /// Requests the next page; returns false if there is none, or a page is loading.
  @discardableResult
  func scrollDown() -> Bool { offers.loadNext() }

  /// Loads the list again from its first page.
  func pullDown() {
    offers.reset()
    offers.loadNext()
  }

  var count: Int { offers.items.count }
  var lastError: APIError? { offers.lastError }

  func managerFinished(_ manager: any APIManaging) {
    for offer in offers.lastItems { console.say(OfferCard().reform(offer)) }
    if !offers.hasMore { console.say("– the end –") }
    bell.ring()
  }

  func managerFailed(_ manager: any APIManaging) {
    console.say("the list failed: \(offers.lastError?.message ?? "")")
    bell.ring()
  }
}
