import Errand
import ErrandTesting

extension Market {
  /// Parameters that are wrong go nowhere.
  func mistype() async {
    console.heading("Wrong parameters stay here")
    let before = asked
    for wrong in [SearchOffers(word: "x"), SearchOffers(word: "lamp", cents: -1...100)] {
      search.search.start(wrong)
      await search.bell.rung()
    }
    search.search.start()
    await search.bell.rung()
    console.say("requests for the three: \(asked - before)")
  }

  /// Two words, one after the other: the first one's search is given up; and one that the user gives up.
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
