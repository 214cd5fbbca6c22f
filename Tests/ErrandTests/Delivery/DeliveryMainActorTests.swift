import Errand
import ErrandTesting
import Foundation
import MainActorClient
import Testing
import TestSupport

/// A client in a target whose default isolation is the main actor, as in an app.
@MainActor struct DeliveryMainActorTests {
  private let transport = ScriptedTransport { request in
    switch request.url.path {
    case "/products/7": .json(#"{"name":"tea","price":3}"#)
    case "/users/7", "/users/8": .json(#"{"nick":"Ada","level":9}"#)
    case "/cart": .json(#"{"count":2}"#)
    case "/page": .text("page")
    case "/countdown": .status(204)
    default: .status(404)
    }
  }

  private var model: ShopModel {
    var configuration = ClientConfiguration(baseURL: "http://shop.example")
    configuration.transport = .own(transport)
    return ShopModel(client: APIClient(configuration))
  }

  private let tea = (name: "tea", price: 3)

  @Test func `async call updates a view model`() async {
    let model = model
    await model.load(7)
    #expect(model.product?.name == tea.name)
    #expect(!model.isLoading)
    #expect(transport.requests.map(\.method) == [.post])
    #expect(transport.requests.map { $0.fields["X-Shop"] } == ["1"])
    await model.load(8)
    #expect(model.message.contains("404"))
  }

  @Test func `samples of the guides run as written`() async throws {
    #expect(try await model.loadAll() == ["Ada", "2", "Ada", "page"])
  }

  @Test func `a body source needs no annotation`() async throws {
    try await model.count()
    #expect(transport.requests.last?.body?.data == Data([3, 2, 1]))
  }

  @Test func `closures update a view model`() async {
    let model = model
    model.start(7)
    #expect(await eventually { !model.isLoading })
    #expect(model.product?.price == tea.price)
    #expect(model.told.last == "success")
    model.start(8).cancel()
    #expect(await eventually { !model.isLoading })
    #expect(model.told.last == "cancelled")
    model.startWhole(7)
    #expect(await eventually { model.told.last == "success" })
  }

  @Test func `delegate updates a view model`() async {
    let model = model
    model.startWithDelegate(7)
    #expect(await eventually { model.told == ["delegate success"] })
    #expect(model.product?.name == tea.name)
    model.startWithDelegate(8)
    #expect(await eventually { model.told.last == "delegate validate" })
  }

  @Test func `released model cancels its calls`() async {
    let latch = Latch()
    var configuration = ClientConfiguration(baseURL: "http://shop.example")
    configuration.transport = .own(
      ScriptedTransport { _ in
        try await latch.wait()
        return .status(200)
      })
    let client = APIClient(configuration)
    var model: ShopModel? = ShopModel(client: client)
    let call = model?.startWithDelegate(7)
    await latch.reached()
    model = nil
    #expect(call?.isCancelled == false, "the delegate call has no owner")
    call?.cancel()
    #expect(await eventually { client.running.isEmpty })
  }

  private struct GetProduct: APIRequest {
    typealias Response = JSONValue
    let path: Path = "/products/7"
    let method = HTTPMethod.post
  }

  private nonisolated static var isOnMain: Bool { Thread.isMainThread }

  @Test func `beforeCompletion hook runs off the main thread`() async throws {
    let onMain = Recorded<Bool>()
    var configuration = ClientConfiguration(baseURL: "http://shop.example")
    configuration.transport = .own(transport)
    let client = APIClient(configuration)
    var options = CallOptions()
    options.beforeCompletion = { _ in onMain.append(Self.isOnMain) }
    _ = try await client.send(GetProduct(), options: options)
    var group = GroupOptions()
    group.beforeCompletion = { _ in onMain.append(Self.isOnMain) }
    _ = await client.outcome(of: Batch([GetProduct()]), options: group)
    #expect(onMain.all == [false, false])
  }
}
