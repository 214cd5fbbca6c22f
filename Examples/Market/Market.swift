import Errand
import ErrandTesting

/// The app and a visit to it, told as it happens.
@MainActor
final class Market {
  let server: MarketServer
  let console: Console
  let client: APIClient
  /// The spinner's clock. It is turned by hand, so that the story is the same on every machine.
  let clock: ManualClock
  /// Rings when the spinner comes and when it goes.
  let spun: Bell
  let list: ListScreen
  let sheet: OfferScreen
  let search: SearchScreen
  let sell: SellScreen

  init(_ server: MarketServer, console: Console, transport: String? = nil) {
    let (clock, spun) = (ManualClock(), Bell())
    let spinner = LoadingIndicator(timers: clock) { isShown in
      console.say(isShown ? "(spinner on)" : "(spinner off)")
      spun.ring()
    }
    Libraries.register()
    client = MarketClient.make(server.url, transport: transport, spinner: spinner)
    (self.server, self.console, self.clock, self.spun) = (server, console, clock, spun)
    list = ListScreen(client, console)
    sheet = OfferScreen(client, console, offerID: 7)
    search = SearchScreen(client, console)
    sell = SellScreen(client, console)
  }

  /// The whole visit.
  func play() async throws {
    try await browse()
    try await openOffer()
    await openOthers()
    await comeBack()
    await mistype()
    try await type()
    try await sellLamp()
    try await exchangeLibrary()
  }

  /// How many requests the server has had.
  var asked: Int { server.requests.count }
}

/// Why the visit could not go on.
struct Surprise: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
