import Errand
import ErrandTesting

extension Market {
  /// A list that loads page by page; one page fails once.
  func browse() async throws {
    console.heading("The list, page by page")
    list.scrollDown()
    console.say("scrolled again while it loads: \(list.scrollDown() ? "sent" : "not sent")")
    await list.bell.rung()
    guard list.count > 0 else { throw Surprise("The list is empty. \(list.lastError?.message ?? "")") }

    server.stumble()
    list.scrollDown()
    await list.bell.rung()
    console.say("the user tries again")
    list.scrollDown()
    await list.bell.rung()
  }

  /// One response for two screens, with the spinner while it is slow.
  func openOffer() async throws {
    console.heading("One offer, two screens")
    sheet.offer.start()
    sheet.rates.start()
    await sheet.bell.rung()  // the rates arrive first
    try await server.slowOffer.reached()
    clock.advance(by: .milliseconds(300))
    await spun.rung()
    server.slowOffer.open()
    await sheet.bell.rung()
    console.say("in the basket: \(try sheet.offer.fetch(as: OfferCard()))")
    clock.advance(by: .milliseconds(500))
    await spun.rung()
  }

  /// Three offers that fail: without a price, sold, and with a wrong number.
  func openOthers() async {
    console.heading("Offers that fail")
    for id in [8, 9, 0] {
      sheet.offerID = id
      sheet.offer.start()
      await sheet.bell.rung()
    }
  }

  /// The same requests again: cached responses are not requested.
  func comeBack() async {
    console.heading("Again: a cache time for each API")
    let before = asked
    sheet.offerID = 7
    sheet.offer.start()
    await sheet.bell.rung()
    sheet.rates.start()
    await sheet.bell.rung()
    list.pullDown()
    await list.bell.rung()
    console.say("requests for all three: \(asked - before)")
  }
}
