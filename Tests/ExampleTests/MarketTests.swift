import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ExampleMarket

struct MarketTests {
  @MainActor private func market() throws -> Market { Market(try MarketServer(), console: Console(prints: false)) }

  // MARK: - Managers and their delegate

  @Test @MainActor func `delegate is called once per start`() async throws {
    let market = try market()
    market.server.slowOffer.open()
    let ear = Ear()
    let offer = APIManager(market.client) { GetOffer(id: 7) }
    offer.delegate = ear
    offer.start()
    await ear.bell.rung()
    offer.start()
    await ear.bell.rung()
    offer.start(GetOffer(id: 0))
    await ear.bell.rung()
    offer.start(GetOffer(id: 9))
    await ear.bell.rung()
    #expect(ear.heard == ["finished", "finished", "parameter", "business"])
    #expect(market.server.requests.map(\.path) == ["/offers/7", "/offers/9"])
  }

  @Test @MainActor func `cancel is delivered once`() async throws {
    let market = try market()
    let ear = Ear()
    let offer = APIManager(market.client) { GetOffer(id: 7) }
    offer.delegate = ear
    offer.start()
    try await market.server.slowOffer.reached()
    #expect(offer.isLoading)
    offer.cancelAll()
    await ear.bell.rung()
    market.server.slowOffer.open()
    offer.start()
    await ear.bell.rung()
    #expect(ear.heard == ["cancelled", "finished"] && !offer.isLoading)
  }

  @Test @MainActor func `released screen receives nothing`() async throws {
    let market = try market()
    var screen: OfferScreen? = OfferScreen(market.client, market.console, offerID: 7)
    screen?.offer.start()
    try await market.server.slowOffer.reached()
    screen = nil
    try await market.server.wait { $0.openConnectionCount == 0 }
    while !market.client.running.isEmpty { await Task.yield() }  // the end is delivered in a job on this actor
    #expect(market.console.lines.isEmpty)
  }

  @Test @MainActor func `failing request source reports its error`() async throws {
    let market = try market()
    let ear = Ear()
    let offer = APIManager(market.client) { () throws -> GetOffer in throw WrongParameter("nobody is chosen") }
    offer.delegate = ear
    #expect(offer.start() == nil)
    #expect(ear.heard == ["parameter"] && offer.lastError?.message.contains("nobody is chosen") == true)
  }

  // MARK: - Parameters

  @Test(arguments: [SearchOffers(word: "x"), SearchOffers(word: "lamp", cents: -1...1)])
  @MainActor func `invalid parameter opens no socket`(wrong: SearchOffers) async throws {
    let market = try market()
    market.search.search.start(wrong)
    await market.search.bell.rung()
    #expect(market.search.search.lastError?.stage == .build && market.search.search.lastError?.code == .parameter)
    #expect(market.server.connectionCount == 0)
  }

  @Test @MainActor func `newer search cancels the older one`() async throws {
    let market = try market()
    market.search.search.start(SearchOffers(word: "lam"))
    try await market.server.slowSearch.reached()
    market.search.search.start(SearchOffers(word: "lamp & 灯"))
    await market.search.bell.rung()
    market.server.quickSearch.open()
    await market.search.bell.rung()
    #expect(market.console.lines == ["  cancelled", "  found: Brass lamp"])
    #expect(market.server.requests.last?.query == "q=lamp%20%26%20%E7%81%AF&from=0&to=1000000")
  }

  // MARK: - Pages, reformers, lifetimes

  @Test @MainActor func `failed page is requested again`() async throws {
    let market = try market()
    try await market.browse()
    #expect(market.server.requests.compactMap(\.query) == ["page=1", "page=2", "page=2"])
    #expect(market.list.count == 3 && !market.list.scrollDown())
  }

  @Test @MainActor func `one response serves two screens`() async throws {
    let market = try market()
    market.sheet.offer.start(GetOffer(id: 8))
    await market.sheet.bell.rung()
    let error = #expect(throws: APIError.self) { try market.sheet.offer.fetch(as: OfferSheet()) }
    #expect(error?.code == .reform && error?.cause is OfferSheet.NoPrice)
    #expect(try market.sheet.offer.fetch(as: OfferCard()) == "Red chair, price on request")
    #expect(market.sheet.offer.lastError == nil)
  }

  @Test @MainActor func `sold offer is a failure`() async throws {
    let market = try market()
    market.sheet.offer.start(GetOffer(id: 9))
    await market.sheet.bell.rung()
    let outcome = try #require(market.sheet.offer.lastOutcome)
    #expect(outcome.error?.code == .business && outcome.error?.businessCode == "17")
    #expect(outcome.response?.status == 200 && outcome.error?.message.hasSuffix("This offer is sold.") == true)
  }

  @Test @MainActor func `each API has its cache lifetime`() async throws {
    let market = try market()
    market.server.slowOffer.open()
    for _ in 1...2 {
      market.sheet.offer.start()
      await market.sheet.bell.rung()
      market.sheet.rates.start()
      await market.sheet.bell.rung()
      market.list.pullDown()
      await market.list.bell.rung()
    }
    #expect(market.server.requests.map(\.path) == ["/offers/7", "/rates", "/offers", "/rates"])
    #expect(market.server.requests.allSatisfy { $0.headers["X-App"] == "market" })
    #expect(market.sheet.offer.lastOutcome?.origin == .cacheFresh)
  }

  @Test @MainActor func `spinner appears once for both`() async throws {
    let market = try market()
    try await market.openOffer()
    let spinning = market.console.lines.filter { $0.contains("spinner") }
    #expect(spinning == ["  (spinner on)", "  (spinner off)"])
  }

  // MARK: - Pictures

  @Test @MainActor func `form contains caption and file`() async throws {
    let market = try market()
    let folder = try PictureFolder()
    let file = try folder.picture("lamp.jpg", bytes: 100_000)
    market.sell.add(file, caption: "\"Lamp\" & 灯")
    await market.sell.bell.rung()
    let request = try #require(market.server.requests.last)
    let body = Data(request.body)
    #expect(body.range(of: try Data(contentsOf: file)) != nil)
    #expect(body.range(of: Data("name=\"caption\"\r\n\r\n\"Lamp\" & 灯\r\n".utf8)) != nil)
    #expect(body.range(of: Data("filename=\"lamp.jpg\"\r\nContent-Type: image/jpeg".utf8)) != nil)
    #expect(request.headers["Content-Length"] == "\(body.count)")
    #expect(market.console.lines.prefix(4) == ["  sent: 25 %", "  sent: 50 %", "  sent: 75 %", "  sent: 100 %"])
    #expect(market.console.lines.last == "  the offer has 2 pictures now")
  }

  @Test @MainActor func `large picture fails with a reason`() async throws {
    let market = try market()
    let folder = try PictureFolder()
    market.sell.add(try folder.picture("wall.png", bytes: 2 << 20), caption: "")
    await market.sell.bell.rung()
    #expect(market.sell.pictures.lastError?.status == 413)
    #expect(market.console.lines.last == "  not added: Pictures may have 2 MiB at most.")
  }

  @Test @MainActor func `file of another type is not sent`() async throws {
    let market = try market()
    let folder = try PictureFolder()
    market.sell.add(try folder.picture("lamp.txt", bytes: 1), caption: "")
    await market.sell.bell.rung()
    #expect(market.sell.pictures.lastError?.code == .parameter)
    market.sell.add(folder.missing, caption: "")
    await market.sell.bell.rung()
    #expect(market.sell.pictures.lastError?.code == .invalidBody && market.server.requests.isEmpty)
  }

  // MARK: - Libraries

  @Test @MainActor func `transport is replaced by name`() async throws {
    let market = try market()
    market.client.configure { $0.transport = .named("pocket") }
    #expect(try await market.client.send(GetRates()) == ["EUR": 100])
    #expect(await market.client.outcome(of: GetOffer(id: 5)).error?.businessCode == "1")
    #expect(market.server.connectionCount == 0)
  }

  @Test @MainActor func `small transport refuses a picture`() async throws {
    let market = try market()
    market.client.configure { $0.transport = .named("pocket") }
    let folder = try PictureFolder()
    market.sell.add(try folder.picture("lamp.jpg", bytes: 100_000), caption: "")
    await market.sell.bell.rung()
    let error = try #require(market.sell.pictures.lastError)
    #expect(error.stage == .build && error.code == .unsupported && error.message.contains("bodySource"))
  }

  @Test @MainActor func `cached responses use no transport`() async throws {
    let market = try market()
    market.server.slowOffer.open()
    let before = Libraries.counted
    market.client.configure { $0.transport = .named("counting") }
    for _ in 1...3 { _ = try await market.client.send(GetOffer(id: 7)) }
    #expect(Libraries.counted == before + 1 && market.server.requests.count == 1)
  }

  // MARK: - The program

  @Test(arguments: [[], ["counting"]]) func `program prints its story`(words: [String]) async throws {
    let run = try await BuiltProgram("ExampleMarket").run(words)
    #expect(run.text == Self.story)
    #expect(run.status == 0 && run.error == "")
  }

  @Test func `unknown transport ends the program`() async throws {
    let run = try await BuiltProgram("ExampleMarket").run(["pigeon"])
    #expect(run.status == 1)
    #expect(run.error.hasPrefix("ExampleMarket: The list is empty. No transport is registered as \"pigeon\";"))
  }
}

/// A delegate that records the error codes that it receives.
@MainActor
private final class Ear: APIManagerDelegate {
  let bell = Bell()
  private(set) var heard: [String] = []

  func managerFinished(_ manager: any APIManaging) {
    heard.append("finished")
    bell.ring()
  }

  func managerFailed(_ manager: any APIManaging) {
    heard.append(manager.lastError?.code.rawValue ?? "")
    bell.ring()
  }
}
