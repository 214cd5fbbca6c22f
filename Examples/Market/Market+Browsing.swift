import Errand
import ErrandTesting

extension Market {
  /// A list that comes page by page, and stumbles once.
  func browse() async throws {
    console.heading("The list, page by page")
    list.scrollDown()
    console.say("once more while it loads: \(list.scrollDown() ? "asked" : "not asked")")
    await list.bell.rung()
    guard list.count > 0 else { throw Surprise("The list stays empty. \(list.lastError?.message ?? "")") }

    server.stumble()
    list.scrollDown()
    await list.bell.rung()
    console.say("the user tries again")
    list.scrollDown()
    await list.bell.rung()
  }

  /// One answer for two screens, with the spinner while it takes long.
  func openOffer() async throws {
    console.heading("One offer, two screens")
    sheet.offer.start()
    sheet.rates.start()
    await sheet.bell.rung()  // the rates are quick
    try await server.slowOffer.reached()
    clock.advance(by: .milliseconds(300))
    await spun.rung()
    server.slowOffer.open()
    await sheet.bell.rung()
    console.say("in the basket: \(try sheet.offer.fetch(as: OfferCard()))")
    clock.advance(by: .milliseconds(500))
    await spun.rung()
  }

  /// Three offers that make trouble: without a price, sold, and without a number.
  func openOthers() async {
    console.heading("What a sheet cannot show")
    for id in [8, 9, 0] {
      sheet.offerID = id
      sheet.offer.start()
      await sheet.bell.rung()
    }
  }

  /// The same once more: what is kept is not asked for.
  func comeBack() async {
    console.heading("Back again: a lifetime for each API")
    let before = asked
    sheet.offerID = 7
    sheet.offer.start()
    await sheet.bell.rung()
    sheet.rates.start()
    await sheet.bell.rung()
    list.pullDown()
    await list.bell.rung()
    console.say("requests for the three: \(asked - before)")
  }
}
