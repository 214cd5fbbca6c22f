package import Errand

/// A view model as an app would write it. The module's default isolation puts everything here on the main actor.
package final class ShopModel {
  package private(set) var product: Product?
  package private(set) var message = ""
  package private(set) var isLoading = false
  package private(set) var told: [String] = []

  private let client: APIClient
  private let calls = CallOwner()

  package init(client: APIClient) { self.client = client }

  /// Loads with `async`.
  package func load(_ id: Int) async {
    isLoading = true
    defer { isLoading = false }
    do {
      product = try await client.send(GetProduct(id: id), options: .owner(calls))
    } catch {
      message = error.message
    }
  }

  /// Loads by the requests of the guides, alone and in a group, and by a call without a type.
  package func loadAll() async throws -> [String] {
    let user = try await client.send(GetUser(id: 7))
    let (cart, other) = try await client.batch(AddToCart(article: 3), GetUser(id: 8))
    let page = try await client.get("/page", as: String.self)
    return [user.nick, "\(cart.count)", other.nick, page]
  }

  /// Sends a body from a source that belongs to no actor.
  package func count() async throws { _ = try await client.send(PutCountdown()) }

  /// Loads with closures.
  @discardableResult
  package func start(_ id: Int) -> Call {
    isLoading = true
    return client.start(GetProduct(id: id), options: .owner(calls)) { product in
      self.product = product
      self.finish("success")
    } onFailure: { error in
      self.message = error.message
      self.finish(error.stage.rawValue)
    } onProgress: { progress in
      self.told.append("\(progress.direction)")
    }
  }

  /// Loads with one closure for success and failure.
  package func startWhole(_ id: Int) {
    client.start(outcomeOf: GetProduct(id: id)) { outcome in
      self.product = outcome.value
      self.finish(outcome.error?.stage.rawValue ?? "success")
    }
  }

  /// Loads with a delegate.
  @discardableResult
  package func startWithDelegate(_ id: Int) -> Call { client.start(GetProduct(id: id), delegate: self) }

  private func finish(_ word: String) {
    isLoading = false
    told.append(word)
  }
}

extension ShopModel: CallDelegate {
  package func requestFinished(_ call: CallInfo, _ response: APIResponse<any Sendable>) {
    product = call.value(of: GetProduct.self, in: response)
    finish("delegate success")
  }

  package func requestFailed(_ call: CallInfo, _ error: APIError) { finish("delegate \(error.stage.rawValue)") }
}
