import Errand

/// The sheet of one offer: the delegate of two managers. It shows the offer as its reformer converts it.
@MainActor
final class OfferScreen: APIManagerDelegate {
  let bell = Bell()
  /// The offer that the manager requests.
  var offerID: Int
  let offer: APIManager<GetOffer>
  let rates: APIManager<GetRates>
  private let console: Console

  init(_ client: APIClient, _ console: Console, offerID: Int) {
    self.console = console
    self.offerID = offerID
    offer = APIManager(client)
    rates = APIManager(client) { GetRates() }
    offer.source = { [weak self] in GetOffer(id: self?.offerID ?? 0) }
    offer.delegate = self
    rates.delegate = self
  }

  func managerFinished(_ manager: any APIManaging) {
    if manager === offer { showOffer() } else { showRates() }
    bell.ring()
  }

  func managerFailed(_ manager: any APIManaging) {
    console.say("\(manager === offer ? "the offer" : "the rates") failed: \(manager.lastError?.message ?? "")")
    bell.ring()
  }

  private func showOffer() {
    do {
      let sheet = try offer.fetch(as: OfferSheet())
      console.say("\(sheet.title) | \(sheet.button) | \(sheet.seller) (\(origin(of: offer.lastOutcome)))")
    } catch {
      console.say("no sheet: \(error.message)")
    }
  }

  private func showRates() {
    let worth = rates.lastOutcome?.value?.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" } ?? []
    console.say("rates: \(worth.joined(separator: ", ")) (\(origin(of: rates.lastOutcome)))")
  }

  private func origin(of outcome: Outcome<some Sendable>?) -> String {
    outcome?.origin?.rawValue ?? "no origin"
  }
}
