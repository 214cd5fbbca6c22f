import Errand
import ErrandTesting

/// The app and a session with it.
@MainActor
final class Market {
  let server: MarketServer
  let console: Console
  let client: APIClient
  /// The spinner's clock. The story advances it, so that the output is the same on every machine.
  let clock: ManualClock
  /// Rings when the spinner is shown and when it is hidden.
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

  /// The whole session.
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

  /// The number of requests that the server has received.
  var asked: Int { server.requests.count }
}

/// The session cannot continue.
struct Surprise: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
