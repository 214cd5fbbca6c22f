import Errand
import ErrandTesting

extension Market {
  /// Wrong parameters are not sent.
  func mistype() async {
    console.heading("Wrong parameters are not sent")
    let before = asked
    for wrong in [SearchOffers(word: "x"), SearchOffers(word: "lamp", cents: -1...100)] {
      search.search.start(wrong)
      await search.bell.rung()
    }
    search.search.start()
    await search.bell.rung()
    console.say("requests for all three: \(asked - before)")
  }

  /// A second search cancels the first one; then the user cancels a third one.
  func type() async throws {
    console.heading("Only the last search counts")
    search.search.start(SearchOffers(word: "lam"))
    try await server.slowSearch.reached()
    search.search.start(SearchOffers(word: "lamp"))
    await search.bell.rung()
    server.quickSearch.open()
    await search.bell.rung()
    search.search.start(SearchOffers(word: "lam"))
    try await server.slowSearch.reached(times: 2)
    search.search.cancelAll()
    await search.bell.rung()
  }
}
